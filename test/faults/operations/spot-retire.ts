import type { SpotWorld } from '../../e2e/spot-agent/spot-world.ts';
import type { FaultOperation } from '../operation.ts';
import { SPOT_INVARIANTS } from './spot-invariants.ts';
import { SpotRun } from './spot-run.ts';

/** A person switches one agent, whose old instance is ended; another has an instance that was leaked. */
export const spotRetire = (world: SpotWorld): FaultOperation<SpotRun> => ({
  name: 'spot-retire',
  alone: [],
  begin: () => Promise.resolve(new SpotRun(world)),
  async prepare(run) {
    const options = { auto_terminate_enabled: 1, terminate_wait_seconds: 0 };
    const switched = await run.add({ moved: true, others: 'terminated' }, options);
    await world.addReadyReplica(switched.id);
    await run.add({ moved: false, others: 'terminated' });
    for (const { id } of run.agents) await world.wake(id);
  },
  async start(run) {
    const [switched, leaking] = run.agents;
    if (switched === undefined || leaking === undefined) return;
    await run.askForSwitch(switched.id);
    await world.addLeak(leaking.id);
    await world.wake(leaking.id);
  },
  unfinished: (run) => run.unfinished(),
  invariants: SPOT_INVARIANTS,
  end: (run) => run.end(),
});
