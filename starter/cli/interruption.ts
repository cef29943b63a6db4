/** A signal that Ctrl-C (or a polite kill) gives, for as long as the work lasts. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interrupted = new AbortController();
  const onSignal = (): void => interrupted.abort(new Interruption());
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  try {
    return await work(interrupted.signal);
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}

/** The user has ended a command before it was done. */
export class Interruption extends Error {
  readonly exitCode = 130;

  constructor() {
    super('interrupted');
    this.name = 'Interruption';
  }
}
