import { setTimeout as sleep } from 'node:timers/promises';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { failure } from '../workflows/shared/failures.ts';

/** What an attempt knows about itself beyond Temporal's context: its last words and whether it may still act. */
interface Attempt {
  progress: string | undefined;
  /** The server has given the attempt up by then, and another one may be running. */
  expiresAtMs: number;
  readonly expired: AbortController;
  /** Ends with the cancellation or the expiry, whichever is first. */
  readonly signal: AbortSignal;
}

const attempts = new WeakMap<Context, Attempt>();
const never = new AbortController().signal;

function currentAttempt(): { readonly context: Context; readonly attempt: Attempt } | null {
  const context = asyncLocalStorage.getStore();
  if (context === undefined) return null;
  let attempt = attempts.get(context);
  if (attempt === undefined) {
    const expired = new AbortController();
    const signal = AbortSignal.any([context.cancellationSignal, expired.signal]);
    attempt = { progress: undefined, expiresAtMs: Infinity, expired, signal };
    attempts.set(context, attempt);
  }
  return { context, attempt };
}

/** Ends with the attempt: cancelled or past its time. Outside of Temporal, as in a conformance test, nothing ends it. */
export function attemptSignal(): AbortSignal {
  return currentAttempt()?.attempt.signal ?? never;
}

/** Rests for a while, or throws as soon as the attempt ends. */
export async function rest(ms: number): Promise<void> {
  const signal = attemptSignal();
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/** Says in the heartbeat's details what is being waited for; a person reads it in the Web UI. */
export function reportProgress(progress: string): void {
  const current = currentAttempt();
  if (current === null) return;
  current.attempt.progress = progress;
  current.context.heartbeat(progress);
}

/** Sends a heartbeat that repeats the last progress, so that it is not wiped. */
export function repeatProgress(): void {
  const current = currentAttempt();
  current?.context.heartbeat(current.attempt.progress);
}

/** Moves the moment from which the attempt may change nothing any more. */
export function extendAttempt(expiresAtMs: number): void {
  const current = currentAttempt();
  if (current !== null) current.attempt.expiresAtMs = expiresAtMs;
}

/** Ends the attempt's requests: the server has given it up. */
export function expireAttempt(): void {
  currentAttempt()?.attempt.expired.abort(expired());
}

/** Throws when the attempt is cancelled or past its time: a process that was frozen must not go on where it stopped. */
export function assertAttemptLives(): void {
  const current = currentAttempt();
  if (current === null) return;
  current.context.cancellationSignal.throwIfAborted();
  if (Date.now() > current.attempt.expiresAtMs) throw expired();
}

const expired = (): Error =>
  failure(
    'TimedOut',
    'this attempt is past its time-out, and another one may be running: it changes nothing',
  );
