import type { StackHandle } from '../../../deploy/local/testing.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import type { FaultOperation } from '../operation.ts';
import { noProcessIsLeft, noVolumeIsLeft, noWorkflowRuns, nothingIsLeft } from './valkey-invariants.ts';

/** From a deleted resource to nothing of it. */
export const valkeyDelete = (stack: StackHandle): FaultOperation<ClusterWorld> => ({
  name: 'valkey-delete',
  alone: [/removeKubernetesFinalizer/, /deleteKubernetesObjects/],
  begin: () => ClusterWorld.create(stack),
  async prepare(world) {
    await world.applyWithSecret({
      masters: 3,
      replicasPerMaster: 1,
      persistence: { size: '64Mi', retention: 'Delete' },
    });
    await world.awaitPhase('Running');
  },
  start: (world) => world.delete(),
  async unfinished(world) {
    const seen = await world.read();
    if (seen !== null) return `the resource is there: ${seen.status?.phase ?? 'no phase'}`;
    return noWorkflowRuns.broken(world);
  },
  invariants: [nothingIsLeft, noProcessIsLeft, noVolumeIsLeft, noWorkflowRuns],
  end: (world) => world.remove(),
});
