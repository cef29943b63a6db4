import type { StackHandle } from '../../../deploy/local/testing.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { leadBy } from '../../valkey/leaders.ts';
import { wrongWith } from '../../valkey/server-view.ts';
import type { FaultOperation } from '../operation.ts';
import { oneEntityRuns, ownerOfAll } from './valkey-invariants.ts';
import { SMALL, unsettled, Writers } from './writers.ts';

interface Shape {
  readonly masters: number;
  readonly replicasPerMaster: number;
}

/**
 * A change from one shape to another with writers on it all the while, of which no acknowledged write may be lost.
 * Where it depends on who leads a shard what is done, somebody is made to, so that each run comes to the same places.
 */
export const changeUnderAudit =
  (name: string, from: Shape, to: Shape, leaders: readonly string[] = []) =>
  (stack: StackHandle): FaultOperation<ClusterWorld> => {
    const writers = new Writers();
    return {
      name,
      alone: [],
      begin: () => ClusterWorld.create(stack),
      async prepare(world) {
        await world.applyWithSecret({ ...SMALL, ...from });
        await world.awaitPhase('Running');
        await leadBy(world, from, leaders);
      },
      async start(world) {
        await writers.begin(world);
        await world.apply({ auth: { secretRef: { name: 'cache-auth' } }, ...SMALL, ...to });
      },
      unfinished: unsettled,
      invariants: [
        {
          says: 'the cluster is whole',
          broken: (world) => wrongWith(world, to.masters, to.replicasPerMaster),
        },
        ownerOfAll,
        oneEntityRuns,
        writers.nothingIsLost,
      ],
      end: (world) => writers.end(world),
    };
  };
