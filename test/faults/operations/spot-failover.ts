import type { SpotWorld } from '../../e2e/spot-agent/spot-world.ts';
import type { FaultOperation } from '../operation.ts';
import { SPOT_INVARIANTS } from './spot-invariants.ts';
import { SpotRun } from './spot-run.ts';

const MOVED = { moved: true, others: 'terminated' } as const;

/** Termination notices for two agents at once: one has a ready replica, and for the other launches are raced. */
export const spotFailover = (world: SpotWorld): FaultOperation<SpotRun> => ({
  name: 'spot-failover',
  alone: [],
  begin: () => Promise.resolve(new SpotRun(world)),
  async prepare(run) {
    const prepared = await run.add(MOVED);
    await world.addReadyReplica(prepared.id);
    await run.add(MOVED);
  },
  async start(run) {
    for (const agent of run.agents) {
      run.tell(agent, { kind: 'termination' });
      run.reclaimOnceMoved(agent);
    }
  },
  unfinished: (run) => run.unfinished(),
  invariants: SPOT_INVARIANTS,
  end: (run) => run.end(),
});
