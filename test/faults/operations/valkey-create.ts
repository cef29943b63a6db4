import type { StackHandle } from '../../../deploy/local/testing.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';
import { entityIsAt } from '../entity-rest.ts';
import type { FaultOperation } from '../operation.ts';
import { oneEntityRuns, ownerOfAll } from './valkey-invariants.ts';

const MASTERS = 3;
const REPLICAS = 1;

/** From an applied resource to a formed cluster of 3 masters and 3 replicas. */
export const valkeyCreate = (stack: StackHandle): FaultOperation<ClusterWorld> => ({
  name: 'valkey-create',
  alone: [],
  begin: () => ClusterWorld.create(stack),
  prepare: async () => {},
  start: async (world) =>
    void (await world.applyWithSecret({ masters: MASTERS, replicasPerMaster: REPLICAS })),
  async unfinished(world) {
    const { phase, message } = (await world.read())?.status ?? {};
    return phase === 'Running'
      ? entityIsAt(await world.temporal(), world.entityId)
      : `phase ${phase ?? 'none'}: ${message ?? ''}`;
  },
  invariants: [
    { says: 'the cluster is whole', broken: (world) => wrongWith(world, MASTERS, REPLICAS) },
    ownerOfAll,
    oneEntityRuns,
  ],
  end: (world) => world.remove(),
});
