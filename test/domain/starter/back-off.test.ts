import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backOffMs } from '../../../starter/back-off.ts';

const BACK_OFF = { firstMs: 500, limitMs: 30_000 };

describe('the wait after a failure', () => {
  it.each([
    [1, 250, 500],
    [2, 500, 1_000],
    [3, 1_000, 2_000],
    [7, 15_000, 30_000],
    [1_000_000, 15_000, 30_000],
  ])('number %i lies between %i and %i ms', (failures, least, most) => {
    expect(backOffMs(BACK_OFF, failures, 0)).toBe(least);
    expect(backOffMs(BACK_OFF, failures, 1)).toBe(most);
  });

  it('never shrinks with more failures and never passes its limit', () => {
    fc.assert(
      fc.property(fc.nat(100), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
        const now = backOffMs(BACK_OFF, failures, random);
        expect(backOffMs(BACK_OFF, failures + 1, random)).toBeGreaterThanOrEqual(now);
        expect(now).toBeLessThanOrEqual(BACK_OFF.limitMs);
      }),
    );
  });
});
