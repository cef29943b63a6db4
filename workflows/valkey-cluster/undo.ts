import type { Facts } from '../shared/plan.ts';
import { changePerformersOf } from './change-performers.ts';
import type { ValkeyPlan, ValkeyStep } from './domain/commands.ts';
import type { ValkeyObservation } from './domain/observation.ts';
import { refusePhaseEvent, phaseFacts } from './domain/phase-guards.ts';
import { planValkeyCluster } from './domain/plan.ts';
import { MOVES_TOGETHER } from './domain/plan-slots.ts';
import { countSlots } from './domain/slots.ts';
import { count, viewShards } from './domain/topology.ts';
import { performersOf, verifyHealth, type ValkeyRun } from './performers.ts';

/** How many masters, and how many replicas of each, there are. */
interface Shape {
  readonly masters: number;
  readonly replicasPerMaster: number;
}

/**
 * A change that is cancelled goes back to what was there when it began, by a plan like any other. Once pods were taken
 * away there is no way back: what is left then is whole and even, and stays.
 */
export function undoOnCancel(run: ValkeyRun): void {
  const before = shapeOf(run.input.observed);
  const words = `${count(before.masters, 'master')} with ${count(before.replicasPerMaster, 'replica')} each`;
  run.onCancel(`back to ${words}`, async () => {
    const observed = await run.observe();
    if (hasLost(run.input.observed, observed)) {
      run.note({ undone: 'nothing: pods were taken away already' });
      return;
    }
    const jobsInTurn = !run.port.knows(MOVES_TOGETHER);
    const plan = planValkeyCluster(observed, before, { formed: true, rebalance: true, jobsInTurn });
    await carryOut(run, plan);
    run.note({ undone: `back to ${words}` });
    if (refusePhaseEvent(run.phase, 'ClusterHealthy', phaseFacts(await run.observe())) === null)
      run.reached('ClusterHealthy', `cancelled: ${words}, as before`);
  });
}

/** The shards that serve slots, and the pods that the smallest of them has. */
function shapeOf(observed: ValkeyObservation): Shape {
  const serving = viewShards(observed).filter(
    (view) => view.master !== null && countSlots(view.master.slots) > 0,
  );
  const replicas = Math.min(...serving.map((view) => view.pods - 1));
  return { masters: serving.length, replicasPerMaster: Number.isFinite(replicas) ? replicas : 0 };
}

/** Whether a StatefulSet is gone or smaller than before. */
const hasLost = (before: ValkeyObservation, now: ValkeyObservation): boolean =>
  before.shards.some(
    (set) => (now.shards.find((other) => other.uid === set.uid)?.replicas ?? 0) < set.replicas,
  );

/** Group after group; what runs here is not interrupted any more. */
async function carryOut(run: ValkeyRun, plan: ValkeyPlan): Promise<void> {
  const groups = Map.groupBy(plan.steps, (step) => step.group);
  for (const steps of groups.values()) {
    await run.observe();
    await Promise.all(steps.map((step) => performStep(run, plan, step)));
  }
}

function performStep(run: ValkeyRun, plan: ValkeyPlan, step: ValkeyStep): Promise<Facts | void> {
  const summary = `undo ${step.id} ${step.kind}: ${step.reason}`;
  const performers = { ...performersOf(run, plan), ...changePerformersOf(run, plan), ...verifyHealth(run) };
  // The step's kind chooses its performer, which TypeScript cannot follow through the index.
  const perform = (performers as Readonly<Record<string, unknown>>)[step.kind];
  if (typeof perform !== 'function') throw new Error(`${step.kind} is no part of a way back`);
  return (perform as (step: ValkeyStep, summary: string) => Promise<Facts | void>)(step, summary);
}
