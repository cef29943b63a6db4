import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SlotRange } from '../../../workflows/valkey-cluster/domain/observation.ts';
import {
  countSlots,
  formatRanges,
  intersectRanges,
  joinRanges,
  subtractRanges,
} from '../../../activities/valkey/slots.ts';

const ranges = fc.array(
  fc.tuple(fc.nat(200), fc.nat(30)).map(([first, more]): SlotRange => [first, first + more]),
  { maxLength: 8 },
);
const slotsOf = (some: readonly SlotRange[]): Set<number> =>
  new Set(some.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => first + at)));

describe('ranges of slots', () => {
  test('keep their slots when joined, and none twice', () => {
    fc.assert(
      fc.property(ranges, (some) => {
        expect(slotsOf(joinRanges(some))).toEqual(slotsOf(some));
        expect(countSlots(joinRanges(some))).toBe(slotsOf(some).size);
      }),
    );
  });

  test('subtracted leave what only the first has', () => {
    fc.assert(
      fc.property(ranges, ranges, (a, b) => {
        const taken = slotsOf(b);
        expect(slotsOf(subtractRanges(a, b))).toEqual(
          new Set([...slotsOf(a)].filter((slot) => !taken.has(slot))),
        );
      }),
    );
  });

  test('intersected leave what both have', () => {
    fc.assert(
      fc.property(ranges, ranges, (a, b) => {
        const other = slotsOf(b);
        expect(slotsOf(intersectRanges(a, b))).toEqual(
          new Set([...slotsOf(a)].filter((slot) => other.has(slot))),
        );
      }),
    );
  });

  test('read as Valkey writes them', () => {
    expect(
      formatRanges(
        joinRanges([
          [7, 9],
          [5, 5],
          [10, 12],
        ]),
      ),
    ).toBe('5 7-12');
  });
});
