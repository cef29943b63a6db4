import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideLease, leads, remember } from '../../../starter/lease-decision.ts';
import type { LeaseMemory, LeaseRecord } from '../../../starter/lease-decision.ts';

const record = (change: Partial<LeaseRecord> = {}): LeaseRecord => ({
  holder: 'other',
  durationMs: 15_000,
  renewTime: 't1',
  transitions: 0,
  resourceVersion: '1',
  ...change,
});

describe('what a replica does about the lease', () => {
  it.each([
    ['creates it when there is none', null, 0, 'create'],
    ['renews its own', { record: record({ holder: 'me' }), changedAtMs: 0 }, 99_000, 'renew'],
    ['takes one that was given back', { record: record({ holder: '' }), changedAtMs: 0 }, 0, 'take'],
    ['waits while another holds it', { record: record(), changedAtMs: 0 }, 14_999, 'wait'],
    ['takes it when the other has not renewed in time', { record: record(), changedAtMs: 0 }, 15_000, 'take'],
  ] as const)('%s', (_, memory, nowMs, expected) => {
    expect(decideLease(memory, 'me', nowMs)).toBe(expected);
  });

  it('measures by its own clock since the record last changed, whatever time the record says', () => {
    const first = remember(null, record(), 1_000);
    expect(remember(first, record(), 9_000)).toBe(first);
    expect(remember(first, record({ renewTime: 't2', resourceVersion: '2' }), 9_000).changedAtMs).toBe(9_000);
  });
});

describe('leading', () => {
  it('ends by itself before anybody else may begin, however slow the answers and whatever the clocks', () => {
    const leaseMs = 15_000;
    const deadlineMs = 10_000;
    fc.assert(
      fc.property(
        fc.integer({ min: -1e9, max: 1e9 }),
        fc.integer({ min: 0, max: 60_000 }),
        fc.integer({ min: 0, max: 60_000 }),
        (skewMs, seenAfterMs, laterMs) => {
          // I renewed at 0; another replica, with another clock, sees that record some time later.
          const memory: LeaseMemory = remember(
            null,
            record({ holder: 'me', durationMs: leaseMs }),
            skewMs + seenAfterMs,
          );
          const nowMs = seenAfterMs + laterMs;
          const otherTakes = decideLease(memory, 'you', skewMs + nowMs) === 'take';
          expect(otherTakes && leads(0, deadlineMs, nowMs)).toBe(false);
        },
      ),
    );
  });

  it('never was when nothing was renewed', () => {
    expect(leads(null, 10_000, 0)).toBe(false);
  });
});
