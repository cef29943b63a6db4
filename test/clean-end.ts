import { startTestStack, type StackHandle, type TestStackOptions } from '../deploy/local/testing.ts';

/** What is to be undone whatever ends the program, in reverse order: its work, an error, or a signal. */
export type Afterwards = AsyncDisposableStack;

const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const;

/** Runs work and then, whatever became of it, all that it put off until afterwards. A signal ends it at once. */
export async function endCleanly<T>(
  work: (afterwards: Afterwards, interrupted: AbortSignal) => Promise<T>,
): Promise<T> {
  const afterwards = new AsyncDisposableStack();
  const interrupted = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    if (interrupted.signal.aborted) return;
    process.stderr.write(`${signal}: cleaning up\n`);
    interrupted.abort(new Error(signal));
    const code = 128 + SIGNALS[signal as keyof typeof SIGNALS];
    void afterwards.disposeAsync().then(
      () => process.exit(code),
      (error: unknown) => {
        process.stderr.write(`cannot clean up: ${String(error)}\n`);
        process.exit(code);
      },
    );
  };
  for (const signal of Object.keys(SIGNALS)) process.on(signal, onSignal);
  try {
    return await work(afterwards, interrupted.signal);
  } catch (error) {
    // What is taken away under running work fails, and nobody wants to read of it; the signal ends the process.
    if (interrupted.signal.aborted) return await new Promise<never>(() => {});
    throw error;
  } finally {
    if (!interrupted.signal.aborted) {
      for (const signal of Object.keys(SIGNALS)) process.off(signal, onSignal);
      await afterwards.disposeAsync();
    }
  }
}

/** A stack that goes when the work is over, or in the middle of its start when that is interrupted. */
export async function startStackFor(afterwards: Afterwards, options: TestStackOptions): Promise<StackHandle> {
  const starting = startTestStack(options);
  afterwards.defer(async () => {
    const stack = await starting.catch(() => null);
    await stack?.stop();
  });
  return starting;
}
