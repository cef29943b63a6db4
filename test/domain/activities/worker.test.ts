import { describe, expect, test } from 'vitest';
import { judgeAge } from '../../../worker/attempt-guard.ts';
import { readConfig } from '../../../worker/config.ts';

describe('an attempt', () => {
  const info = {
    currentAttemptScheduledTimestampMs: 100_000,
    startToCloseTimeoutMs: 30_000,
    heartbeatTimeoutMs: 5_000,
  };

  test.each([
    ['has just been scheduled', 100_050, 0, null],
    ['has waited in its queue, but not past its time', 129_000, 0, null],
    ['is past its time', 131_000, 0, 'it was scheduled 31 s ago and had 30 s'],
    [
      'was handed out before this worker stood still',
      110_000,
      6_000,
      'this worker stood still for 6 s since it was scheduled',
    ],
    ['was handed out before a standstill that the server did not notice', 110_000, 4_000, null],
  ])('that %s', (_, nowMs, frozenMs, expected) => {
    expect(judgeAge(info, nowMs, frozenMs)).toBe(expected);
  });

  test('without time-outs is never too old', () => {
    const unbounded = { currentAttemptScheduledTimestampMs: 0, startToCloseTimeoutMs: 0 };
    expect(judgeAge(unbounded, 1e12, 1e9)).toBeNull();
  });
});

describe('the configuration', () => {
  test('has defaults for everything', () => {
    expect(readConfig({})).toMatchObject({ KEELSON_TASK_QUEUE: 'keelson', KEELSON_WORKER_VERSIONING: 'off' });
  });

  test.each([
    [{ KEELSON_ACTIVITY_SLOTS: 'many' }, /KEELSON_ACTIVITY_SLOTS/],
    [{ KEELSON_WORKER_PORT: '70000' }, /KEELSON_WORKER_PORT/],
    [{ KEELSON_LOG_LEVEL: 'loud' }, /KEELSON_LOG_LEVEL/],
    [{ KEELSON_WORKER_VERSIONING: 'pinned' }, /TEMPORAL_WORKER_BUILD_ID/],
  ])('that cannot be used is refused by name (%#)', (env, words) => {
    expect(() => readConfig(env)).toThrow(words);
  });
});
