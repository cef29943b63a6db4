import { createProgress } from '../../deploy/local/progress.ts';
import { startTestStack, TEST_STACK_VARIABLE } from '../../deploy/local/testing.ts';

const interrupted = new AbortController();
const onSignal = (): void => interrupted.abort(new Error('interrupted'));
let stop: (() => Promise<void>) | undefined;

/** Starts one stack for all tests of the run, unless the environment names one that runs already. */
export async function setup(): Promise<void> {
  if (process.env[TEST_STACK_VARIABLE] !== undefined) return;
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  const stack = await startTestStack({ progress: createProgress(), signal: interrupted.signal });
  stop = () => stack.stop();
  // The processes of the run inherit it.
  process.env[TEST_STACK_VARIABLE] = stack.home;
}

/** Leaves nothing of the stack that `setup` started. */
export async function teardown(): Promise<void> {
  process.off('SIGINT', onSignal);
  process.off('SIGTERM', onSignal);
  if (stop === undefined) return;
  delete process.env[TEST_STACK_VARIABLE];
  await stop();
}
