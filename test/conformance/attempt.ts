import { asyncLocalStorage, CancelledFailure, type Context } from '@temporalio/activity';

/** What a test sees of an activity that runs as if under a worker. */
export interface Attempt<T> {
  readonly result: Promise<T>;
  /** All that it said in its heartbeats, in order, each once. */
  readonly said: readonly string[];
  /** Waits until it has said this; fails when it ends without. */
  hear(words: string): Promise<void>;
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
  const result = asyncLocalStorage.run(context, activity);
  let ended = false;
  result.then(
    () => (ended = true),
    () => (ended = true),
  );
  return {
    result,
    said,
    async hear(words) {
      while (!said.some((one) => one.includes(words))) {
        if (ended) throw new Error(`it ended without "${words}", and said: ${said.join('; ')}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    cancel: () => cancellation.abort(new CancelledFailure('CANCELLED')),
  };
}
