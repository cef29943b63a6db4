import type { SlotRange } from './observation.ts';

/** How many hash slots a Valkey cluster has. */
export const SLOT_COUNT = 16_384;

export const sizeOf = ([first, last]: SlotRange): number => last - first + 1;

/** How many slots some ranges hold together. */
export const countSlots = (ranges: readonly SlotRange[]): number =>
  ranges.reduce((sum, range) => sum + sizeOf(range), 0);

/** The same slots in ascending order, with neighbours joined. */
export function joinRanges(ranges: readonly SlotRange[]): readonly SlotRange[] {
  const joined: [number, number][] = [];
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const previous = joined.at(-1);
    if (previous !== undefined && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
    else joined.push([first, last]);
  }
  return joined;
}

/** Splits ranges into the lowest `count` slots and the others. */
export function splitRanges(
  ranges: readonly SlotRange[],
  count: number,
): { readonly lower: readonly SlotRange[]; readonly upper: readonly SlotRange[] } {
  const lower: SlotRange[] = [];
  const upper: SlotRange[] = [];
  let missing = count;
  for (const [first, last] of joinRanges(ranges)) {
    const taken = Math.min(missing, last - first + 1);
    if (taken > 0) lower.push([first, first + taken - 1]);
    if (first + taken <= last) upper.push([first + taken, last]);
    missing -= taken;
  }
  return { lower, upper };
}

/** The slots of the whole cluster that none of these ranges holds. */
export function missingRanges(ranges: readonly SlotRange[]): readonly SlotRange[] {
  const missing: SlotRange[] = [];
  let next = 0;
  for (const [first, last] of joinRanges(ranges)) {
    if (first > next) missing.push([next, first - 1]);
    next = last + 1;
  }
  if (next < SLOT_COUNT) missing.push([next, SLOT_COUNT - 1]);
  return missing;
}

/** Whether the first ranges hold every slot of the second. */
export const contains = (outer: readonly SlotRange[], inner: readonly SlotRange[]): boolean =>
  countSlots(joinRanges([...outer, ...inner])) === countSlots(joinRanges(outer));

/** Slots that stand in more than one of the lists, as a count. */
export const countDoubled = (lists: readonly (readonly SlotRange[])[]): number =>
  countSlots(lists.flat()) - countSlots(joinRanges(lists.flat()));

/** `0-5460, 10922` for people and for the status. */
export const formatRanges = (ranges: readonly SlotRange[]): string =>
  joinRanges(ranges)
    .map(([first, last]) => (first === last ? String(first) : `${first}-${last}`))
    .join(', ');
