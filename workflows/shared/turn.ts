import { isApproved } from './approvals.ts';
import type { Failure } from './failure-codes.ts';
import type { Served } from './lifecycle.ts';
import type { Carried } from './memory.ts';
import type { Command, PlanEnvelope } from './plan.ts';

/** What an entity does with the plan of one turn. */
export type Decision =
  | { readonly do: 'rest' }
  | { readonly do: 'operate'; readonly cancelled?: string }
  | { readonly do: 'fail'; readonly failure: Failure }
  | { readonly do: 'wait'; readonly on: WaitOn; readonly message: string; readonly untilMs: number | null };

export type WaitOn = 'pause' | 'back-off' | 'change' | 'cancelled' | 'guard' | 'approval';

/** Decides one turn, purely: what was observed and remembered in, what to do and why out. */
export function decideTurn(turn: {
  readonly served: Served;
  /** What the plan is for, where that is a resource of its own. */
  readonly wish?: Served | null;
  /** Whether a cancelled operation has to run once more to carry the cancellation out. */
  readonly answersCancel?: boolean;
  readonly plan: PlanEnvelope<Command>;
  readonly lost: Failure | null;
  readonly carried: Carried;
  readonly nowMs: number;
}): Decision {
  const { served, plan, lost, carried, nowMs } = turn;
  const { failed, declined, paused } = carried;
  // What a look had found is over, or another matter, when this look finds something else.
  const stands = failed !== null && (!failed.found || lost?.message === failed.failure.message);
  if (stands && failed.generation === served.generation) {
    const { code, message } = failed.failure;
    if (failed.after.next === 'await-change') return wait('change', `${code}: ${message}`);
    if (failed.untilMs !== null && nowMs < failed.untilMs)
      return wait('back-off', `${code}: ${message}`, failed.untilMs);
  }
  // What is lost can still be deleted: that is how a person accepts the loss.
  if (lost !== null && !served.deleting) return { do: 'fail', failure: lost };
  if (plan.steps.length === 0) return { do: 'rest' };
  if (paused !== null) return wait('pause', `paused: ${paused.reason}`);
  if (declined !== null && isDeclined(turn, declined)) {
    if (turn.answersCancel === true) return { do: 'operate', cancelled: declined.reason };
    return wait('cancelled', `${declined.operation} was cancelled: ${declined.reason}`);
  }
  const refusal = plan.blocked[0];
  if (refusal !== undefined)
    return wait('guard', `blocked by the guard ${refusal.guard}: ${refusal.message}`);
  if (served.approvals && !isApproved(plan, carried.approved)) {
    return wait('approval', `${plan.operation} has steps that cannot be undone: approve ${plan.hash}`);
  }
  return { do: 'operate' };
}

const isDeclined = (
  { served, plan, wish }: Parameters<typeof decideTurn>[0],
  declined: NonNullable<Carried['declined']>,
): boolean =>
  declined.generation === served.generation &&
  declined.operation === plan.operation &&
  (declined.uid === undefined || declined.uid === wish?.uid);

const wait = (on: WaitOn, message: string, untilMs: number | null = null): Decision => ({
  do: 'wait',
  on,
  message,
  untilMs,
});
