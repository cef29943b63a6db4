import {
  ActivityFailure,
  ApplicationFailure,
  ApplicationFailureCategory,
  CancelledFailure,
  ChildWorkflowFailure,
  TimeoutFailure,
} from '@temporalio/common';
import { FAILURES, isFailureCode, type Failure, type FailureCode } from './failure-codes.ts';
import type { Facts } from './plan.ts';

const NOT_YET_RETRY_MS = 2_000;

/** Builds the failure to throw: its class says whether Temporal retries it and how loudly. */
export function failure(code: FailureCode, message: string, facts: Facts = {}): ApplicationFailure {
  const { class: kind } = FAILURES[code];
  return ApplicationFailure.create({
    message,
    type: code,
    nonRetryable: kind !== 'transient' && kind !== 'notYet',
    details: [facts],
    ...(kind === 'notYet'
      ? { nextRetryDelay: NOT_YET_RETRY_MS, category: ApplicationFailureCategory.BENIGN }
      : {}),
  });
}

/** Reads a failure out of whatever Temporal wrapped it in; null means that it is a defect of ours. */
export function failureOf(error: unknown): Failure | null {
  if (error instanceof ActivityFailure || error instanceof ChildWorkflowFailure)
    return failureOf(error.cause);
  if (error instanceof CancelledFailure) return known('Cancelled', error.message);
  if (error instanceof TimeoutFailure) return known('TimedOut', error.message);
  if (error instanceof ApplicationFailure && typeof error.type === 'string' && isFailureCode(error.type)) {
    return known(error.type, error.message);
  }
  return null;
}

const known = (code: FailureCode, message: string): Failure => ({
  code,
  class: FAILURES[code].class,
  message,
});
