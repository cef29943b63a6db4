import { failureOf } from './failures.ts';
import type { Stop } from './messages.ts';
import type { Port } from './port.ts';

/** Thrown inside a run to leave it at a safe point; never leaves the runner. */
export class Stopped extends Error {
  readonly stop: Stop;
  constructor(stop: Stop) {
    super(stop.reason);
    this.stop = stop;
  }
}

/** Thrown by a wait that was let go because a step beside it failed, which is what is told. */
export class LetGo extends Error {}

/** Waits for the end of work, or lets go of it: what it had under way is then cancelled, and its end awaited. */
export async function endOrLetGo<R>(
  port: Port<object>,
  work: () => Promise<R>,
  letGo: () => boolean,
): Promise<{ readonly value: R } | 'let go'> {
  const started = port.cancellable(work);
  let ended = false;
  const settled = started.end.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  void settled.then(() => (ended = true));
  try {
    await port.until(() => ended || letGo(), { summary: 'until it ends or is let go' });
  } catch (error) {
    // A cancellation of the whole run has reached the work too; its end is awaited below.
    if (failureOf(error)?.code !== 'Cancelled') throw error;
  }
  if (!ended) started.cancel();
  const outcome = await settled;
  if ('value' in outcome) return outcome;
  // Whatever became of work that was let go (cancelled, failed, timed out with its worker) is not told.
  if (failureOf(outcome.error) === null || !letGo()) throw outcome.error;
  return 'let go';
}

/** Of several errors the one to tell: a defect first, then the wish to stop, then what a person must act on. */
export function gravest(errors: readonly unknown[]): unknown {
  const rank = (error: unknown): number => {
    if (error instanceof LetGo) return 9;
    if (error instanceof Stopped) return 1;
    const failed = failureOf(error);
    if (failed === null) return 0;
    if (failed.code === 'Cancelled') return 2;
    return failed.class === 'permanent' ? 3 : failed.class === 'validation' ? 4 : 5;
  };
  return [...errors].sort((a, b) => rank(a) - rank(b))[0];
}
