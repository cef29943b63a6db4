import {
  ActivityFailure,
  ApplicationFailure,
  ApplicationFailureCategory,
  CancelledFailure,
  ChildWorkflowFailure,
  RetryState,
  TerminatedFailure,
  TimeoutFailure,
  TimeoutType,
} from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import {
  afterFailure,
  FAILURES,
  isFailureCode,
  type Failure,
  type FailureClass,
  type FailureCode,
} from '../../../workflows/shared/failure-codes.ts';
import { failure, failureOf, operationFailed, resultOf } from '../../../workflows/shared/failures.ts';
import type { OperationResult } from '../../../workflows/shared/messages.ts';

const codes = Object.keys(FAILURES) as FailureCode[];
const { NON_RETRYABLE_FAILURE } = RetryState;
const inActivity = (cause: Error): Error =>
  new ActivityFailure('failed', 'screwInLamp', '1', NON_RETRYABLE_FAILURE, undefined, cause);
const inChild = (cause: Error): Error =>
  new ChildWorkflowFailure('default', { workflowId: 'a' }, 'dim', NON_RETRYABLE_FAILURE, cause);
const of = (kind: FailureClass): Failure => ({ code: 'TimedOut', class: kind, message: '' });

describe('the registry of failures', () => {
  it.each(codes)('%s has a class, a meaning and a remedy, in sentences', (code) => {
    const { class: kind, meaning, remedy } = FAILURES[code];
    expect(['transient', 'notYet', 'stale', 'validation', 'permanent']).toContain(kind);
    expect(meaning).toMatch(/^[A-Z].*\.$/);
    expect(remedy).toMatch(/^[A-Z`].*\.$/);
    expect(code).toMatch(/^[A-Z][A-Za-z0-9]+$/);
  });

  it('knows its own codes and no others', () => {
    expect(codes.every(isFailureCode)).toBe(true);
    for (const other of ['', 'Error', 'toString', 'constructor', 'timedOut'])
      expect(isFailureCode(other)).toBe(false);
  });

  it.each(codes)('%s survives being thrown by an activity, and by an operation', (code) => {
    const thrown = failure(code, 'words', { key: 1 });
    const expected = { code, class: FAILURES[code].class, message: 'words' };
    expect(failureOf(thrown)).toEqual(expected);
    expect(failureOf(inActivity(thrown))).toEqual(expected);
    expect(failureOf(inChild(inActivity(thrown)))).toEqual(expected);
  });

  it.each(codes)('%s is retried by Temporal exactly when its class says so', (code) => {
    const retried = ['transient', 'notYet'].includes(FAILURES[code].class);
    expect(failure(code, 'words').nonRetryable).toBe(!retried);
  });

  it('waits quietly: an expected wait is no error in the logs, and comes back soon', () => {
    const waiting = failure('PodsNotReady', 'two of three');
    expect(waiting.category).toBe(ApplicationFailureCategory.BENIGN);
    expect(waiting.nextRetryDelay).toBe(2_000);
  });
});

describe('whatever Temporal throws', () => {
  it('is a cancellation when somebody cancelled or terminated', () => {
    expect(failureOf(new CancelledFailure('x'))?.code).toBe('Cancelled');
    expect(failureOf(inActivity(new CancelledFailure('x')))?.code).toBe('Cancelled');
    expect(failureOf(inChild(new TerminatedFailure('x')))?.code).toBe('Cancelled');
  });

  it('is a time-out that names the step, or what the last attempt died of', () => {
    const timeout = new TimeoutFailure('Activity timed out', null, TimeoutType.SCHEDULE_TO_CLOSE);
    expect(failureOf(inActivity(timeout))).toMatchObject({
      code: 'TimedOut',
      message: 'screwInLamp did not end in time: Activity timed out',
    });
    Object.defineProperty(timeout, 'cause', { value: failure('KubernetesUnavailable', 'refused') });
    expect(failureOf(inActivity(timeout))).toMatchObject({
      code: 'KubernetesUnavailable',
      message: 'refused',
    });
  });

  it.each([
    new Error('plain'),
    new TypeError('broken'),
    ApplicationFailure.nonRetryable('unknown', 'Refused'),
    inActivity(ApplicationFailure.nonRetryable('unknown')),
    'a string',
    null,
  ])('is a defect of ours when it has no name: %s', (error) => {
    expect(failureOf(error)).toBeNull();
  });
});

describe('after a failure', () => {
  it.each<[FailureClass, number, string]>([
    ['transient', 1, 'back-off 2000'],
    ['transient', 2, 'back-off 4000'],
    ['transient', 8, 'back-off 256000'],
    ['transient', 9, 'back-off 300000'],
    ['transient', 1_000, 'back-off 300000'],
    ['notYet', 1, 'back-off 2000'],
    ['notYet', 1_000, 'back-off 300000'],
    ['stale', 1, 'plan-again'],
    ['stale', 3, 'plan-again'],
    ['stale', 4, 'back-off 2000'],
    ['stale', 5, 'back-off 4000'],
    ['stale', 1_000, 'back-off 300000'],
    ['validation', 1, 'await-change'],
    ['validation', 50, 'await-change'],
    ['permanent', 1, 'await-change'],
    ['permanent', 50, 'await-change'],
  ])('of class %s, number %i in a row: %s', (kind, inARow, expected) => {
    const after = afterFailure(of(kind), inARow);
    expect(after.next === 'back-off' ? `back-off ${after.delayMs}` : after.next).toBe(expected);
  });
});

describe('a failed operation', () => {
  const result: OperationResult = {
    operation: 'dim',
    outcome: 'failed',
    message: 'no right',
    failure: { code: 'KubernetesForbidden', message: 'no right' },
    steps: { done: 1, of: 3 },
    phase: 'Dimming',
    durationMs: 5,
    stepSeconds: {},
    facts: {},
  };

  it('leaves in its failure how far it came', () => {
    const failed: Failure = { code: 'KubernetesForbidden', class: 'permanent', message: 'no right' };
    const thrown = inChild(operationFailed(failed, result));
    expect(failureOf(thrown)).toEqual(failed);
    expect(resultOf(thrown)).toEqual(result);
  });

  it.each([
    inChild(new TerminatedFailure('x')),
    new Error('x'),
    inChild(failure('TimedOut', 'x', { outcome: 1 })),
  ])('left nothing when it did not come that far: %s', (error) => {
    expect(resultOf(error)).toBeNull();
  });
});
