import type { SlotRange } from './observation.ts';
import { contains, countSlots, missingRanges, SLOT_COUNT, splitRanges } from './slots.ts';

/** The slots of one shard. */
export interface Holding {
  readonly shard: number;
  readonly ranges: readonly SlotRange[];
}

/** One migration job: as many ranges as it needs, from one shard to another. */
export interface Move {
  readonly from: number;
  readonly to: number;
  readonly ranges: readonly SlotRange[];
  readonly slotCount: number;
}

/** Where slots that nobody serves go first, and what moves after that. */
export interface Distribution {
  readonly assigned: readonly Holding[];
  readonly moves: readonly Move[];
}

/**
 * The fewest slots that must be assigned and moved so that the wanted shards share all of them to within one slot.
 * Those that hold the most keep the larger share.
 */
export function planBalance(holdings: readonly Holding[], wanted: readonly number[]): Distribution {
  const assigned = planAssignment(holdings, wanted);
  return { assigned, moves: planMoves(merge(holdings, assigned), wanted) };
}

/** Gives the slots that no shard holds to the wanted shards, contiguously where a cluster is new. */
export function planAssignment(holdings: readonly Holding[], wanted: readonly number[]): readonly Holding[] {
  let free = missingRanges(holdings.flatMap((one) => one.ranges));
  if (free.length === 0) return [];
  const shares = freshShares(wanted);
  const stillFresh = holdings.every((one) =>
    contains(shares.find((share) => share.shard === one.shard)?.ranges ?? [], one.ranges),
  );
  const held = countHeld(holdings);
  const targets = stillFresh
    ? shares.map(({ shard, ranges }) => ({ shard, slotCount: countSlots(ranges) }))
    : balancedTargets(holdings, wanted, SLOT_COUNT);
  const assigned: Holding[] = [];
  for (const { shard, slotCount } of targets.toSorted((a, b) => a.shard - b.shard)) {
    const { lower, upper } = splitRanges(free, Math.max(0, slotCount - (held.get(shard) ?? 0)));
    if (lower.length > 0) assigned.push({ shard, ranges: lower });
    free = upper;
  }
  return assigned;
}

/** The moves that balance what is held: shards that leave give everything, the others what they hold above their share. */
export function planMoves(holdings: readonly Holding[], wanted: readonly number[]): readonly Move[] {
  const held = countHeld(holdings);
  const total = [...held.values()].reduce((sum, one) => sum + one, 0);
  const share = new Map(
    balancedTargets(holdings, wanted, total).map(({ shard, slotCount }) => [shard, slotCount]),
  );
  const givers = holdings
    .map(({ shard, ranges }) => ({ shard, ranges: splitRanges(ranges, share.get(shard) ?? 0).upper }))
    .filter(({ ranges }) => ranges.length > 0)
    .toSorted((a, b) => a.shard - b.shard);
  const takers = [...share]
    .map(([shard, slotCount]) => ({ shard, lacks: slotCount - (held.get(shard) ?? 0) }))
    .filter(({ lacks }) => lacks > 0)
    .toSorted((a, b) => a.shard - b.shard);
  return match(givers, takers);
}

/** Orders jobs so that no shard gives to two at once. */
export function wavesOf(moves: readonly Move[]): readonly (readonly Move[])[] {
  const waves: Move[][] = [];
  const jobs = new Map<number, number>();
  for (const move of moves) {
    const wave = jobs.get(move.from) ?? 0;
    jobs.set(move.from, wave + 1);
    (waves[wave] ??= []).push(move);
  }
  return waves;
}

/** Pairs those that give with those that lack: equal amounts first, then in order, so that jobs are few. */
function match(
  givers: readonly Holding[],
  takers: readonly { shard: number; lacks: number }[],
): readonly Move[] {
  const open = takers.map((taker) => ({ ...taker }));
  const moves: Move[] = [];
  const rest: Holding[] = [];
  for (const giver of givers) {
    const amount = countSlots(giver.ranges);
    const equal = open.find((taker) => taker.lacks === amount);
    if (equal === undefined) {
      rest.push(giver);
      continue;
    }
    equal.lacks = 0;
    moves.push({ from: giver.shard, to: equal.shard, ranges: giver.ranges, slotCount: amount });
  }
  for (const giver of rest) {
    let left = giver.ranges;
    for (const taker of open) {
      const slotCount = Math.min(taker.lacks, countSlots(left));
      if (slotCount === 0) continue;
      const { lower, upper } = splitRanges(left, slotCount);
      moves.push({ from: giver.shard, to: taker.shard, ranges: lower, slotCount });
      taker.lacks -= slotCount;
      left = upper;
    }
  }
  return moves.toSorted((a, b) => a.from - b.from || a.to - b.to);
}

/** Even shares of `total`; the slots that do not divide go to those that hold the most, of equals to the highest. */
function balancedTargets(
  holdings: readonly Holding[],
  wanted: readonly number[],
  total: number,
): readonly { readonly shard: number; readonly slotCount: number }[] {
  const held = countHeld(holdings);
  const even = Math.floor(total / wanted.length);
  const over = total % wanted.length;
  return wanted
    .map((shard) => ({ shard, holds: held.get(shard) ?? 0 }))
    .toSorted((a, b) => b.holds - a.holds || b.shard - a.shard)
    .map(({ shard }, at) => ({ shard, slotCount: even + (at < over ? 1 : 0) }));
}

/** One contiguous run of slots for each shard of a new cluster. */
function freshShares(wanted: readonly number[]): readonly Holding[] {
  const edge = (at: number): number => Math.floor((at * SLOT_COUNT) / wanted.length);
  return wanted.map((shard, at) => ({ shard, ranges: [[edge(at), edge(at + 1) - 1]] }));
}

const countHeld = (holdings: readonly Holding[]): ReadonlyMap<number, number> =>
  new Map(holdings.map(({ shard, ranges }) => [shard, countSlots(ranges)]));

function merge(holdings: readonly Holding[], added: readonly Holding[]): readonly Holding[] {
  if (added.length === 0) return holdings;
  const ranges = Map.groupBy([...holdings, ...added], (one) => one.shard);
  return [...ranges].map(([shard, parts]) => ({ shard, ranges: parts.flatMap((part) => part.ranges) }));
}
