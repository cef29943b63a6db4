import type { ObjectIdentity } from '../../../activities/kubernetes/contract.ts';
import {
  runOperation,
  type Operation,
  type OperationInput,
  type Performers,
} from '../../shared/operation.ts';
import type { OperationResult } from '../../shared/messages.ts';
import { operationPort } from '../../shared/temporal-port.ts';
import type { ValkeyTypes } from '../contract.ts';
import type { ValkeyObservation } from '../domain/observation.ts';
import { valkeyLifecycle } from '../lifecycle.ts';
import { identityOf, objectOf, ownedObject, performersOf, reached, type ValkeyRun } from '../performers.ts';

/** Set by the trigger service on every resource that it hands to a workflow. */
const FINALIZER = 'keelson.dev/cleanup';

/** Takes a cluster down, from whatever phase it is in, and lets its resource go when nothing is left. */
export const deleteCluster: Operation<ValkeyTypes> = {
  name: 'delete',
  interruptible: [],

  async run(run) {
    if (run.phase !== 'Deleting') reached(run, 'DeletionRequested');
    const { RemoveShard } = performersOf(run);
    await run.perform({ RemoveShard });
    await run.observe();
    await run.perform(removeTheRest(run));
  },
};

/** The workflow of one deletion. */
export const deleteValkeyCluster = (input: OperationInput<ValkeyTypes>): Promise<OperationResult> =>
  runOperation(operationPort<ValkeyTypes['activities']>(input.tuning), valkeyLifecycle, deleteCluster, input);

/** Then the pods, then what nobody uses any more; the resource itself is let go last. */
const removeTheRest = (run: ValkeyRun): Performers<ValkeyTypes, 'VerifyHealth'> => ({
  async VerifyHealth(_, summary) {
    const { pods, cluster } = run.observed;
    const live = pods.map(({ name, uid }) => objectOf(cluster.namespace, 'Pod', name, uid));
    await run.port.wait(`${summary} (pods)`).deleteKubernetesObjects({ objects: live });
    const rest = ownedObjects(await run.observe());
    const removed = await run.port.wait(`${summary} (the rest)`).deleteKubernetesObjects({ objects: rest });
    await run.port
      .act('the resource may go')
      .removeKubernetesFinalizer({ resource: identityOf(run.observed), finalizer: FINALIZER });
    return { pods: live.length, objects: removed.deleted };
  },
});

/** Everything else that is ours. Volumes stay unless the spec lets them go: they hold the data. */
function ownedObjects({ cluster, owned }: ValkeyObservation): readonly ObjectIdentity[] {
  return Object.entries(owned)
    .map(([key, uid]) => ownedObject(cluster.namespace, key, uid))
    .filter(
      ({ kind }) => kind !== 'PersistentVolumeClaim' || cluster.spec.persistence.retention === 'Delete',
    );
}
