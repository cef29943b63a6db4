import type { SpotWorld } from '../../e2e/spot-agent/spot-world.ts';
import type { FaultOperation } from '../operation.ts';
import { SPOT_INVARIANTS } from './spot-invariants.ts';
import { SpotRun } from './spot-run.ts';

/** Recommendations for two agents at once: one moves, and for the other no interruption follows, and all is undone. */
export const spotRebalance = (world: SpotWorld): FaultOperation<SpotRun> => ({
  name: 'spot-rebalance',
  alone: [],
  begin: () => Promise.resolve(new SpotRun(world)),
  async prepare(run) {
    await run.add({ moved: true, others: 'zombie' }, { auto_switch_enabled: 1 });
    await run.add({ moved: false, others: 'terminated' });
  },
  async start(run) {
    for (const agent of run.agents) run.tell(agent, { kind: 'rebalance' });
    const [, held] = run.agents;
    if (held === undefined) return;
    const isReady = async (): Promise<boolean> => {
      const [row] = await world.database.rows(
        "SELECT 1 FROM replica_instances WHERE agent_id = ? AND status = 'ready'",
        held.id,
      );
      return row !== undefined;
    };
    // Half an hour passes at once.
    run.once(held, isReady, () =>
      world.database.run(
        'UPDATE agents SET notice_received_at = notice_received_at - INTERVAL 31 MINUTE WHERE id = ?',
        held.id,
      ),
    );
  },
  unfinished: (run) => run.unfinished(),
  invariants: SPOT_INVARIANTS,
  end: (run) => run.end(),
});
