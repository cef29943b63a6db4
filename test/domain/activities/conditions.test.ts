import { describe, expect, test } from 'vitest';
import { isStatusWritten, timeConditions, withoutNulls } from '../../../activities/kubernetes/conditions.ts';
import type { Condition } from '../../../workflows/shared/messages.ts';

const NOW = '2026-01-02T03:04:05Z';
const BEFORE = '2025-12-31T00:00:00Z';
const ready = (over: Partial<Condition> = {}): Condition => ({
  type: 'Ready',
  status: 'True',
  reason: 'ClusterHealthy',
  message: 'all 6 nodes are healthy',
  observedGeneration: 3,
  ...over,
});
const stored = { ...ready(), lastTransitionTime: BEFORE };

describe('the time of a condition', () => {
  test('is now for a new one', () => {
    expect(timeConditions([ready()], [], NOW)).toEqual([{ ...ready(), lastTransitionTime: NOW }]);
  });

  test('stays while the status stays, also when reason, message or generation change', () => {
    const changed = ready({ reason: 'Other', message: 'other', observedGeneration: 4 });
    expect(timeConditions([changed], [stored], NOW)).toEqual([{ ...changed, lastTransitionTime: BEFORE }]);
  });

  test('is now when the status changes', () => {
    const [timed] = timeConditions([ready({ status: 'False' })], [stored], NOW);
    expect(timed?.lastTransitionTime).toBe(NOW);
  });
});

describe('a status', () => {
  const wanted = { phase: 'Running', readyNodes: 6, conditions: [stored] };

  test('is written when it says the same, whatever the order and whoever else has conditions', () => {
    const other = { ...stored, type: 'Parked' };
    expect(isStatusWritten({ conditions: [other, stored], readyNodes: 6, phase: 'Running' }, wanted)).toBe(
      true,
    );
  });

  test.each([
    ['a field differs', { ...wanted, phase: 'Creating' }],
    ['a field is missing', { phase: 'Running', conditions: [stored] }],
    ['a field is to go', { ...wanted, message: 'old' }],
    ['a condition differs', { ...wanted, conditions: [{ ...stored, reason: 'Other' }] }],
    ['a condition is missing', { ...wanted, conditions: [] }],
  ])('is not written when %s', (_, existing) => {
    expect(isStatusWritten(existing, wanted)).toBe(false);
  });

  test('has no nulls, which the API server would prune', () => {
    expect(withoutNulls({ a: null, b: { c: null, d: 0 }, e: [{ f: null }, ''] })).toEqual({
      b: { d: 0 },
      e: [{}, ''],
    });
  });
});
