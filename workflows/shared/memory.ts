import type { Approved } from './approvals.ts';
import { afterFailure, type AfterFailure, type Failure } from './failure-codes.ts';
import type { Served } from './lifecycle.ts';
import type { OperationResult } from './messages.ts';

/** All that an entity remembers, as JSON: it travels through continue-as-new, deadlines and approvals included. */
export interface Carried {
  readonly version: 1;
  readonly uid: string | null;
  /** Null while only the resource knows it: at first, and after an operation was ended from outside. */
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
    /** The wish that it was carried out for, where that is a resource of its own: another one is not meant. */
    readonly uid?: string;
  } | null;
  readonly failed: Failed | null;
  /** The hash of the plan that was carried out last, as long as the world has not been found as desired since. */
  readonly lastDone: string | null;
  /** The defect that has been told on the resource; meeting it again parks the entity. */
  readonly defect: string | null;
  readonly turns: number;
  readonly last: OperationResult | null;
}

/** The failure that was met last, and what is to follow from it. */
export interface Failed {
  readonly failure: Failure;
  /** The generation that failed; null once a person asked to try again. */
  readonly generation: number | null;
  readonly inARow: number;
  readonly after: AfterFailure;
  readonly untilMs: number | null;
  /** Whether a look at the world found it, so that another look may find it gone. */
  readonly found: boolean;
  /** Whether the failed phase was entered, which has to be left again. */
  readonly entered: boolean;
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
  lastDone: null,
  defect: null,
  turns: 0,
  last: null,
};

/** What is remembered of another resource under the same name: nothing but the pause, which is a person's word. */
export const remember = (carried: Carried, served: Served): Carried =>
  carried.uid === served.uid
    ? {
        ...carried,
        phase: carried.phase ?? served.phase,
        carriedOut: newest(carried.carriedOut, served.carriedOut),
      }
    : {
        ...freshlyCarried,
        uid: served.uid,
        phase: served.phase,
        paused: carried.paused,
        turns: carried.turns,
        carriedOut: served.carriedOut,
      };

/** Remembers a failure, how often it came in a row for this generation, and when it is over. */
export function rememberFailure(carried: Carried, served: Served, failure: Failure, nowMs: number): Failed {
  const before = carried.failed?.generation === served.generation ? carried.failed.inARow : 0;
  const inARow = before + 1;
  const after = afterFailure(failure, inARow);
  return {
    failure,
    generation: served.generation,
    inARow,
    after,
    untilMs: after.next === 'back-off' ? nowMs + after.delayMs : null,
    found: false,
    entered: false,
  };
}

/** Forgets whatever stands between the entity and another try, as a person asked. */
export const retried = (carried: Carried): Pick<Carried, 'declined' | 'failed'> => ({
  declined: null,
  // The failure itself is kept until the phase has been left through the table.
  failed: carried.failed === null ? null : { ...carried.failed, generation: null, untilMs: null },
});

const newest = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.max(a, b);
