import type { StackHandle } from '../../../deploy/local/testing.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';
import { entityIsAt } from '../entity-rest.ts';
import type { FaultOperation } from '../operation.ts';
import { oneEntityRuns, ownerOfAll } from './valkey-invariants.ts';

const VICTIM = 'cache-0-0';

/** From a pod that is lost without a word to a cluster that is whole again. */
export const valkeyHeal = (stack: StackHandle): FaultOperation<ClusterWorld> => {
  const lost = new Map<ClusterWorld, string>();
  const uidOf = async (world: ClusterWorld): Promise<string> =>
    (await world.list('pods')).find((pod) => pod.metadata.name === VICTIM)?.metadata.uid ?? '';
  return {
    name: 'valkey-heal',
    alone: [],
    begin: () => ClusterWorld.create(stack),
    async prepare(world) {
      await world.applyWithSecret({ masters: 3, replicasPerMaster: 1 });
      await world.awaitPhase('Running');
    },
    async start(world) {
      lost.set(world, await uidOf(world));
      const path = `/api/v1/namespaces/${world.namespace}/pods/${VICTIM}`;
      await world.api.send('DELETE', path, { gracePeriodSeconds: 0 });
    },
    async unfinished(world) {
      const uid = await uidOf(world);
      if (uid === '' || uid === lost.get(world)) return 'the pod is not back';
      const { phase, message } = (await world.read())?.status ?? {};
      if (phase !== 'Running') return `phase ${phase ?? 'none'}: ${message ?? ''}`;
      const rest = await entityIsAt(await world.temporal(), world.entityId);
      return rest ?? wrongWith(world, 3, 1).catch(String);
    },
    invariants: [
      { says: 'the cluster is whole', broken: (world) => wrongWith(world, 3, 1) },
      ownerOfAll,
      oneEntityRuns,
    ],
    end: (world) => world.remove(),
  };
};
