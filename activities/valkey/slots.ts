import type { SlotRange } from '../../workflows/valkey-cluster/domain/observation.ts';

/** How many slots a cluster has. */
export const SLOTS = 16_384;

/** How many slots the ranges hold together. */
export const countSlots = (ranges: readonly SlotRange[]): number =>
  ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);

/** Whether a slot is in one of the ranges. */
export const contains = (ranges: readonly SlotRange[], slot: number): boolean =>
  ranges.some(([first, last]) => first <= slot && slot <= last);

/** Sorted, without overlaps, neighbours joined. */
export function joinRanges(ranges: readonly SlotRange[]): readonly SlotRange[] {
  const joined: [number, number][] = [];
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const before = joined.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else joined.push([first, last]);
  }
  return joined;
}

/** What is in the first ranges and not in the second. */
export function subtractRanges(
  from: readonly SlotRange[],
  taken: readonly SlotRange[],
): readonly SlotRange[] {
  let left = joinRanges(from);
  for (const [first, last] of taken) {
    left = left.flatMap(([a, b]): SlotRange[] => {
      if (last < a || first > b) return [[a, b]];
      return [
        ...(a < first ? ([[a, first - 1]] as const) : []),
        ...(b > last ? ([[last + 1, b]] as const) : []),
      ];
    });
  }
  return left;
}

/** What is in both. */
export const intersectRanges = (a: readonly SlotRange[], b: readonly SlotRange[]): readonly SlotRange[] =>
  subtractRanges(a, subtractRanges(a, b));

/** `0-99 200`, as Valkey itself writes them. */
export const formatRanges = (ranges: readonly SlotRange[]): string =>
  ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(' ');
