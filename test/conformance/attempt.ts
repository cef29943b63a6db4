import { asyncLocalStorage, CancelledFailure, type Context } from '@temporalio/activity';

/** What a test sees of an activity that runs as if under a worker. */
export interface Attempt<T> {
  readonly result: Promise<T>;
  /** All that it said in its heartbeats, in order, each once. */
  readonly said: readonly string[];
  cancel(): void;
}

/** Runs an activity with a context of its own, without a server. */
export function runAttempt<T>(activity: () => Promise<T>): Attempt<T> {
  const said: string[] = [];
  const cancellation = new AbortController();
  const context = {
    cancellationSignal: cancellation.signal,
    heartbeat(details: unknown): void {
      if (typeof details === 'string' && said.at(-1) !== details) said.push(details);
    },
  } as unknown as Context;
  return {
    result: asyncLocalStorage.run(context, activity),
    said,
    cancel: () => cancellation.abort(new CancelledFailure('CANCELLED')),
  };
}
