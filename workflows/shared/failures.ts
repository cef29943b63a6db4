import {
  ActivityFailure,
  ApplicationFailure,
  ApplicationFailureCategory,
  CancelledFailure,
  ChildWorkflowFailure,
  TerminatedFailure,
  TimeoutFailure,
} from '@temporalio/common';
import { FAILURES, isFailureCode, type Failure, type FailureCode } from './failure-codes.ts';
import type { OperationResult } from './messages.ts';
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
  if (error instanceof ActivityFailure && error.cause instanceof TimeoutFailure)
    return timedOut(error.activityType, error.cause);
  if (error instanceof ActivityFailure || error instanceof ChildWorkflowFailure)
    return failureOf(error.cause);
  if (error instanceof CancelledFailure) return known('Cancelled', error.message);
  if (error instanceof TerminatedFailure)
    return known('Cancelled', 'the operation was terminated from outside');
  if (error instanceof TimeoutFailure) return timedOut('the operation', error);
  if (error instanceof ApplicationFailure && typeof error.type === 'string' && isFailureCode(error.type)) {
    return known(error.type, error.message);
  }
  return null;
}

/** What the last attempt died of says more than that the time was over. */
const timedOut = (what: string, timeout: TimeoutFailure): Failure =>
  failureOf(timeout.cause) ?? known('TimedOut', `${what} did not end in time: ${timeout.message}`);

/** What a failed operation throws: the failure, and how far it came, for its entity and for whoever looks at the run. */
export const operationFailed = (failed: Failure, result: OperationResult): ApplicationFailure =>
  ApplicationFailure.create({
    message: failed.message,
    type: failed.code,
    nonRetryable: true,
    details: [result],
  });

/** The result that a failed operation left in its failure, if it came that far. */
export function resultOf(error: unknown): OperationResult | null {
  if (error instanceof ChildWorkflowFailure) return resultOf(error.cause);
  const [result] = error instanceof ApplicationFailure ? (error.details ?? []) : [];
  return isOperationResult(result) ? result : null;
}

const isOperationResult = (value: unknown): value is OperationResult =>
  typeof value === 'object' && value !== null && 'outcome' in value && 'phase' in value;

const known = (code: FailureCode, message: string): Failure => ({
  code,
  class: FAILURES[code].class,
  message,
});
