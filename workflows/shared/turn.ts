import { isApproved, type Approved } from './approvals.ts';
import type { AfterFailure, Failure } from './failure-codes.ts';
import type { Served } from './lifecycle.ts';
import type { OperationResult } from './messages.ts';
import type { Command, PlanEnvelope } from './plan.ts';

/** All that an entity remembers, as JSON: it travels through continue-as-new, deadlines and approvals included. */
export interface Carried {
  readonly version: 1;
  readonly uid: string | null;
  readonly phase: string | null;
  readonly paused: { readonly reason: string } | null;
  readonly approved: Approved | null;
  /** The newest generation whose wish was carried out to its end. */
  readonly carriedOut: number | null;
  /** The wish that a person cancelled: not taken up again for this generation unless asked. */
  readonly declined: {
    readonly generation: number;
    readonly operation: string;
    readonly reason: string;
  } | null;
  readonly failed: {
    readonly failure: Failure;
    readonly generation: number;
    readonly inARow: number;
    readonly then: AfterFailure;
    readonly untilMs: number | null;
  } | null;
  readonly turns: number;
  readonly last: OperationResult | null;
}

export const freshlyCarried: Carried = {
  version: 1,
  uid: null,
  phase: null,
  paused: null,
  approved: null,
  carriedOut: null,
  declined: null,
  failed: null,
  turns: 0,
  last: null,
};

/** What an entity does with the plan of one turn. */
export type Decision =
  | { readonly do: 'rest' }
  | { readonly do: 'operate' }
  | { readonly do: 'fail'; readonly failure: Failure }
  | { readonly do: 'wait'; readonly on: WaitOn; readonly message: string; readonly untilMs: number | null };

export type WaitOn = 'pause' | 'back-off' | 'change' | 'cancelled' | 'guard' | 'approval';

/** Decides one turn, purely: what was observed and remembered in, what to do and why out. */
export function decideTurn(turn: {
  readonly served: Served;
  readonly plan: PlanEnvelope<Command>;
  readonly lost: Failure | null;
  readonly carried: Carried;
  readonly nowMs: number;
}): Decision {
  const { served, plan, lost, carried, nowMs } = turn;
  const { failed, declined, paused } = carried;
  if (failed !== null && failed.generation === served.generation) {
    const { code, message } = failed.failure;
    if (failed.then.next === 'await-change') return wait('change', `${code}: ${message}`);
    if (failed.untilMs !== null && nowMs < failed.untilMs)
      return wait('back-off', `${code}: ${message}`, failed.untilMs);
  }
  if (lost !== null) return { do: 'fail', failure: lost };
  if (plan.steps.length === 0) return { do: 'rest' };
  if (paused !== null) return wait('pause', `paused: ${paused.reason}`);
  if (
    declined !== null &&
    declined.generation === served.generation &&
    declined.operation === plan.operation
  ) {
    return wait('cancelled', `${declined.operation} was cancelled: ${declined.reason}`);
  }
  const refusal = plan.blocked[0];
  if (refusal !== undefined) return wait('guard', refusal.message);
  if (served.approvals && !isApproved(plan, carried.approved)) {
    return wait('approval', `${plan.operation} has steps that cannot be undone: approve ${plan.hash}`);
  }
  return { do: 'operate' };
}

const wait = (on: WaitOn, message: string, untilMs: number | null = null): Decision => ({
  do: 'wait',
  on,
  message,
  untilMs,
});

/** What is remembered of another resource under the same name: nothing but the pause, which is a person's word. */
export const remember = (carried: Carried, served: Served): Carried =>
  carried.uid === served.uid
    ? { ...carried, carriedOut: newest(carried.carriedOut, served.carriedOut) }
    : {
        ...freshlyCarried,
        uid: served.uid,
        paused: carried.paused,
        turns: carried.turns,
        carriedOut: served.carriedOut,
      };

const newest = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.max(a, b);
