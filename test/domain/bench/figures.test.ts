import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { figureOf, median, quantile, slopeOf } from '../../bench/figures.ts';

describe('quantile', () => {
  it.each([
    [[1], 0.5, 1],
    [[1, 2, 3, 4], 0.5, 2.5],
    [[4, 1, 3, 2], 0, 1],
    [[4, 1, 3, 2], 1, 4],
    [[10, 20, 30, 40, 50], 0.25, 20],
    [[10, 20], 0.95, 19.5],
  ])('of %j at %d is %d', (values, p, expected) => {
    expect(quantile(values, p)).toBeCloseTo(expected);
  });

  it('is no number for no values, rather than a number that nobody measured', () => {
    expect(median([])).toBeNaN();
  });

  it('never leaves the values, and never falls as the share rises', () => {
    const values = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (some, p) => {
        expect(quantile(some, p)).toBeGreaterThanOrEqual(Math.min(...some));
        expect(quantile(some, p)).toBeLessThanOrEqual(Math.max(...some));
        expect(quantile(some, p / 2)).toBeLessThanOrEqual(quantile(some, p));
      }),
    );
  });
});

describe('a figure', () => {
  it('is the median of the ratios of pairs, not the ratio of the medians', () => {
    const pairs = [
      { ours: 10, floor: 10 },
      { ours: 1100, floor: 1000 },
      { ours: 30, floor: 10 },
    ];
    expect(figureOf('example', 1.2, pairs)).toEqual({
      bench: 'example',
      ratio: 1.1,
      goal: 1.2,
      ok: true,
      spread: 0.909,
    });
  });

  it('misses its goal by what is not rounded away', () => {
    expect(figureOf('example', 1.2, [{ ours: 1.20001, floor: 1 }]).ok).toBe(false);
    expect(figureOf('example', 1.2, [{ ours: 1.2, floor: 1 }]).ok).toBe(true);
  });
});

describe('a slope', () => {
  it('is what one more costs, whatever none costs', () => {
    const points = [0, 1_000, 2_000, 4_000].map((count) => ({ count, value: 50e6 + 12_345 * count }));
    expect(slopeOf(points)).toBeCloseTo(12_345);
  });

  it('is the line nearest to values that scatter', () => {
    expect(
      slopeOf([
        { count: 0, value: 1 },
        { count: 1, value: 0 },
        { count: 2, value: 5 },
      ]),
    ).toBeCloseTo(2);
  });
});
