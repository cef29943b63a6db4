import type { WorkflowInfo } from '@temporalio/workflow';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { judgeAge } from '../../../worker/attempt-guard.ts';
import { readConfig } from '../../../worker/config.ts';
import { createMetrics } from '../../../worker/metrics.ts';
import { logSteps } from '../../../worker/step-log.ts';

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

describe('what workflows tell', () => {
  const lines: Record<string, unknown>[] = [];
  const write = (text: string): void => void lines.push(JSON.parse(text) as Record<string, unknown>);
  const metrics = createMetrics();
  const { keelson } = logSteps(metrics.sinks, pino({ level: 'info' }, { write }));
  const info = { workflowId: 'lamp-row/default/hall/dim/1', runId: 'r' } as WorkflowInfo;

  test('is logged with the workflow and the step, and counted all the same', async () => {
    await keelson.stepEnded.fn(info, { lifecycle: 'lamp-row', kind: 'Discard', outcome: 'done' }, 1.5);
    await keelson.guardBlocked.fn(info, { lifecycle: 'lamp-row', guard: 'Reader' });
    await keelson.waited.fn(info, { lifecycle: 'lamp-row', on: 'drift' }, 600);
    await keelson.operationEnded.fn(info, { lifecycle: 'lamp-row', operation: 'dim', outcome: 'failed' }, 2);
    const said = { workflowId: info.workflowId, lifecycle: 'lamp-row' };
    expect(lines).toEqual([
      expect.objectContaining({ ...said, step: 'Discard', outcome: 'done', seconds: 1.5, msg: 'step done' }),
      expect.objectContaining({ ...said, guard: 'Reader', msg: 'blocked by a guard' }),
      expect.objectContaining({ ...said, operation: 'dim', level: 40, msg: 'operation failed' }),
    ]);
    const counted = await metrics.registry.metrics();
    for (const name of ['step_seconds_count', 'guard_blocks_total', 'wait_seconds_count', 'operations_total'])
      expect(counted).toMatch(new RegExp(`^keelson_${name}{.*lamp-row.*} 1$`, 'm'));
  });
});
