import * as messages from '../../workflows/shared/messages.ts';
import type { Stage } from '../conformance/core/stage.ts';
import { TUNING, type TemporalTheatre } from '../conformance/core/temporal-theatre.ts';

/** Keeps the history of a workflow under the name of a case. */
type Keep = (workflowId: string, name: string) => Promise<unknown>;
type Case = (row: Stage, keep: Keep, theatre: TemporalTheatre) => Promise<void>;

/** What the example goes through for its recorded histories, each on a row of its own. */
export const EXAMPLE_CASES: Readonly<Record<string, Case>> = {
  async life(row, keep, theatre) {
    await row.apply({ wanted: 3, approvals: true });
    await row.untilLit(3);
    await row.apply({ wanted: 1 });
    await row.untilWaiting('approval');
    const plan = await theatre.plan(row.ref);
    await row.update('approve', { hash: plan?.hash, by: 'ada', reason: 'it is bright outside' });
    await row.untilLit(1);
    await row.update('pause', { reason: 'holidays' });
    await row.apply({ wanted: 2, approvals: false });
    await row.untilWaiting('pause');
    await row.update('resume');
    await row.untilLit(2);
    await row.delete();
    await row.untilGone();
    await keep(row.entity, 'row-whole-life');
    const [lightUp, dim, , dismantle] = await row.ended();
    await keep(lightUp?.workflowId ?? '', 'light-up-done');
    await keep(dim?.workflowId ?? '', 'dim-done');
    await keep(dismantle?.workflowId ?? '', 'dismantle-done');
  },
  async superseded(row, keep) {
    const letGo = row.hold('awaitLampWarm');
    await row.apply({ wanted: 3 });
    const workflowId = await row.untilStep('light-up', 'AwaitWarm');
    await row.apply({ wanted: 2 });
    await row.untilOutcome('light-up: superseded');
    letGo();
    await row.untilLit(2);
    await keep(workflowId, 'light-up-superseded');
  },
  async cancelled(row, keep) {
    const letGo = row.hold('awaitLampWarm');
    await row.apply({ wanted: 3 });
    const workflowId = await row.untilStep('light-up', 'AwaitWarm');
    await row.update('cancelOperation', { reason: 'too bright' });
    await row.untilWaiting('cancelled');
    await keep(workflowId, 'light-up-cancelled');
    letGo();
    await row.update('retry');
    await row.untilLit(3);
    await keep(row.entity, 'row-cancelled-retried');
  },
  async cancelledFromOutside(row, keep, theatre) {
    const letGo = row.hold('screwInLamp');
    await row.apply({ wanted: 1 });
    const workflowId = await row.untilStep('light-up', 'ScrewIn');
    await row.untilCaught('screwInLamp');
    await theatre.cancel(workflowId);
    await row.until('the step has heard', () => theatre.world.hasHeard(row.ref, 'screwInLamp'));
    letGo();
    await row.untilWaiting('cancelled');
    await keep(workflowId, 'light-up-cancelled-from-outside');
  },
  async failed(row, keep) {
    row.fail('screwInLamp', 'KubernetesForbidden', 'no right to touch lamps', 1);
    await row.apply({ wanted: 1 });
    await row.untilWaiting('change');
    const [failed] = await row.ended();
    await keep(failed?.workflowId ?? '', 'light-up-failed');
    await row.update('retry');
    await row.untilLit(1);
    await keep(row.entity, 'row-failed-recovered');
  },
  async paused(row, keep, theatre) {
    const letGo = row.hold('screwInLamp');
    await row.apply({ wanted: 4 });
    const workflowId = await row.untilStep('light-up', 'ScrewIn');
    await row.update('pause', { reason: 'the electrician is here' });
    await row.until('it holds', async () => (await theatre.progress(workflowId)).waiting !== null);
    letGo();
    await row.until('it says so', () => (row.row?.status?.message ?? '').includes('paused'));
    await row.update('resume');
    await row.untilLit(4);
    await keep(workflowId, 'light-up-paused');
  },
  async blocked(row, keep, theatre) {
    await row.apply({ wanted: 3 });
    await row.untilLit(3);
    const letGo = row.hold('discardLamp');
    await row.apply({ wanted: 1 });
    await row.untilCaught('discardLamp');
    theatre.world.apply(row.ref, { reader: true });
    letGo();
    await row.untilStatus('Blocked');
    const ended = await row.ended();
    await keep(ended.at(-1)?.workflowId ?? '', 'dim-blocked');
    await row.apply({ reader: false });
    await row.untilLit(1);
    await keep(row.entity, 'row-blocked');
  },
  async renewed(row, keep, theatre) {
    theatre.world.apply(row.ref, { wanted: 1 });
    await theatre.client.workflow.start('lampRow', {
      workflowId: row.entity,
      taskQueue: messages.TASK_QUEUE,
      args: [{ ref: row.ref, tuning: { ...TUNING, longHistory: 30 } }],
    });
    await row.untilLit(1);
    for (let at = 0; at < 4; at += 1) {
      await row.update('pause', { reason: 'a moment' });
      await row.update('resume');
    }
    await row.apply({ wanted: 2 });
    await row.untilLit(2);
    await keep(row.entity, 'row-continued-as-new');
  },
};
