import { describe, expect, it } from 'vitest';
import { findRivals, Reigns, type Taken } from '../../faults/operations/reigns.ts';

const taken = (nodeId: string, epoch: number, sentMs: number, slot = 1): Taken => ({
  slot,
  nodeId,
  epoch,
  sentMs,
  answeredMs: sentMs + 5,
});

const rivalsIn = (...writes: readonly Taken[]): string | null => {
  const reigns = new Reigns();
  for (const one of writes) reigns.add(one);
  return findRivals(reigns.all);
};

describe('nodes that took writes for one slot', () => {
  it.each([
    ['one that always leads', [taken('a', 1, 0), taken('a', 1, 100)]],
    ['a handover', [taken('a', 1, 0), taken('b', 2, 100)]],
    [
      'a handover and one back',
      [taken('a', 1, 0), taken('b', 2, 100), taken('a', 3, 200), taken('a', 3, 300)],
    ],
    ['masters of different slots with one epoch', [taken('a', 1, 0, 1), taken('b', 1, 0, 2)]],
    ['a handover between a request and its answer', [taken('a', 1, 100), taken('b', 2, 98)]],
  ] as const)('are no rivals: %s', (_, writes) => {
    expect(rivalsIn(...writes)).toBeNull();
  });

  it.each([
    ['two in the same epoch', [taken('a', 1, 0), taken('b', 1, 100)]],
    ['the old master after the new one', [taken('a', 1, 0), taken('b', 2, 100), taken('a', 1, 110)]],
    ['the old master much later', [taken('b', 2, 100), taken('a', 1, 5_000)]],
  ] as const)('are rivals: %s', (_, writes) => {
    expect(rivalsIn(...writes)).toMatch(/took (a write|writes) for slot 1/);
  });
});
