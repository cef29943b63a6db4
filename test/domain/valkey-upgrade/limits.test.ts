import { describe, expect, it } from 'vitest';
import { failure } from '../../../workflows/shared/failures.ts';
import { within, type ShardRun } from '../../../workflows/valkey-upgrade/limits.ts';

/** A run that looks at once and sees nothing but trouble; what it began goes on until it is cancelled. */
function troubled() {
  const told: string[] = [];
  let cancel = (): void => {};
  const cancelled = new Promise<void>((resolve) => (cancel = resolve));
  const port = {
    nowMs: () => 0,
    knows: () => true,
    until: async () => false,
    cancellable: <R>(work: () => Promise<R>) => ({ end: work(), cancel: () => cancel() }),
  };
  const observe = () => Promise.reject(failure('ResourceReplaced', 'default/cache is another one now'));
  const run = { port, observe, progress: { stopping: null } } as unknown as ShardRun;
  const work = async (): Promise<void> => {
    told.push('it begins');
    await cancelled;
    // What was sent to a server is on its way, and its end is awaited.
    await new Promise((resolve) => setImmediate(resolve));
    told.push('it has ended');
    throw failure('Cancelled', 'let go');
  };
  return { run, work, told };
}

describe('what an upgrade waits for', () => {
  it('has ended before the run does, also when a look meanwhile fails', async () => {
    const { run, work, told } = troubled();
    await expect(within(run, 60, 'the handover', work)).rejects.toThrow('another one now');
    expect(told).toEqual(['it begins', 'it has ended']);
  });
});
