import type { StackHandle } from '../../../deploy/local/testing.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { viewServers, wrongWith } from '../../valkey/server-view.ts';
import type { FaultOperation } from '../operation.ts';
import { oneEntityRuns, ownerOfAll } from './valkey-invariants.ts';
import { SMALL, unsettled, Writers } from './writers.ts';

const WRITES_BEFORE = 200;

/**
 * From all pods lost at once, a replica with its data, to a cluster that is whole again: nodes are introduced at new
 * addresses, a new one is attached, and the one that it replaces is forgotten. What a replica had confirmed is there.
 */
export const valkeyHeal = (stack: StackHandle): FaultOperation<ClusterWorld> => {
  const writers = new Writers({ confirmedBy: 1 });
  const lost = new Map<ClusterWorld, ReadonlySet<string>>();
  return {
    name: 'valkey-heal',
    alone: [],
    begin: () => ClusterWorld.create(stack),
    async prepare(world) {
      await world.applyWithSecret({ ...SMALL, masters: 3, replicasPerMaster: 1 });
      await world.awaitPhase('Running');
    },
    async start(world) {
      await writers.begin(world, WRITES_BEFORE);
      const pods = await world.list('pods');
      lost.set(world, new Set(pods.map((pod) => pod.metadata.uid ?? '')));
      const emptied = (await viewServers(world)).find((view) => view.role === 'slave')?.pod ?? '';
      const core = `/api/v1/namespaces/${world.namespace}`;
      await world.api.send('DELETE', `${core}/persistentvolumeclaims/data-${emptied}`);
      const now = { gracePeriodSeconds: 0 };
      const names = pods.map((pod) => pod.metadata.name);
      await Promise.all(names.map((name) => world.api.send('DELETE', `${core}/pods/${name}`, now)));
    },
    async unfinished(world) {
      const pods = await world.list('pods');
      const still = pods.filter((pod) => lost.get(world)?.has(pod.metadata.uid ?? ''));
      if (pods.length < 6 || still.length > 0)
        return `${pods.length} pods, ${still.length} of them lost ones`;
      return (await unsettled(world)) ?? wrongWith(world, 3, 1).catch(String);
    },
    invariants: [
      { says: 'the cluster is whole', broken: (world) => wrongWith(world, 3, 1) },
      ownerOfAll,
      oneEntityRuns,
      writers.nothingIsLost,
    ],
    end: (world) => writers.end(world),
  };
};
