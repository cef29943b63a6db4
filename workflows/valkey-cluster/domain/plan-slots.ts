import type { Facts } from '../../shared/plan.ts';
import { wavesOf, type Move } from './balance.ts';
import type { PlanContext } from './plan.ts';
import type { SlotRange } from './observation.ts';
import { openSlots } from './open-slots.ts';
import { countSlots, formatRanges, joinRanges } from './slots.ts';
import type { Draft, Stage } from './stages.ts';
import { count } from './topology.ts';

/** The first slots of a new cluster's masters. */
export const draftAssignments = ({ slots }: PlanContext): Stage =>
  slots.assigned.map(({ shard, ranges }) => ({
    kind: 'AssignSlots',
    shard,
    ranges,
    slotCount: countSlots(ranges),
    reason: `shard ${shard} serves slots ${formatRanges(ranges)}`,
  }));

/** The change with which all jobs are begun together: a shard that gives to several queues its snapshots itself. */
export const MOVES_TOGETHER = 'valkey-moves-together';

/** The migration jobs: none needs the end of another. */
export function draftMoves(context: PlanContext): readonly Stage[] {
  const { moves } = context.slots;
  const waves = context.options.jobsInTurn === true ? wavesOf(moves) : [moves];
  return waves.map((wave) => wave.map((move) => draftMove(context, move)));
}

function draftMove(context: PlanContext, move: Move): Draft {
  const { leaving, wish } = context;
  const held = countHeld(context, move.from);
  const reason = leaving.some((view) => view.shard === move.from)
    ? `shard ${move.from} leaves, and shard ${move.to} takes ${move.slotCount === held ? 'all' : move.slotCount} of its ${held} slots`
    : `shard ${move.from} holds ${held} slots, more than its share among ${wish.masters}: ${move.slotCount} go to shard ${move.to}`;
  const facts = measure(context, move, held);
  return { kind: 'MigrateSlots', ...move, reason, ...(facts === null ? {} : { facts }) };
}

/** Slots that were left half moved are moved to their end: what went ahead is at the other side already. */
export function draftRepairs({ topology, options, slots }: PlanContext): Stage {
  if (options.closeSlots !== true || slots.moves.length > 0) return [];
  const half = openSlots(topology).flatMap(({ slot, owner, heir }) =>
    heir === null || heir.shard === owner.shard ? [] : [{ slot, from: owner.shard, to: heir.shard }],
  );
  return [...Map.groupBy(half, ({ from, to }) => `${from} ${to}`).values()].map((moved): Draft => {
    const [{ from, to } = { from: 0, to: 0 }] = moved;
    const ranges = joinRanges(moved.map(({ slot }): SlotRange => [slot, slot]));
    const reason = `${count(moved.length, 'slot')} (${formatRanges(ranges)}) was left half moved from shard ${from} to shard ${to}, and is moved to its end`;
    return { kind: 'MigrateSlots', from, to, ranges, slotCount: moved.length, reason };
  });
}

/** Keys and bytes on the way, as the source's averages give them; null when they were not observed. */
function measure(context: PlanContext, move: Move, held: number): Facts | null {
  const source = context.views.find((view) => view.shard === move.from)?.master;
  if (source === undefined || source === null || held === 0) return null;
  const share = (of: number): number => Math.round((of * move.slotCount) / held);
  const facts: Facts = {
    ...(source.keys === undefined ? {} : { keys: share(source.keys) }),
    ...(source.usedMemory === undefined ? {} : { bytes: share(source.usedMemory) }),
  };
  return Object.keys(facts).length === 0 ? null : facts;
}

const countHeld = (context: PlanContext, shard: number): number =>
  countSlots(
    context.views.filter((view) => view.shard === shard).flatMap((view) => view.master?.slots ?? []),
  );
