import { allowed, blocked, unknown, type Verdict } from '../../shared/guards.ts';
import type { ValkeyPlan, ValkeyStepOf } from './commands.ts';
import type { ValkeyFacts } from './guards.ts';
import type { ValkeyNode } from './observation.ts';
import { maxMemoryBytes } from './server-config.ts';
import { countSlots } from './slots.ts';
import { viewShards } from './topology.ts';

/** A receiver is filled to this share at most: the rest is for what clients write meanwhile. */
const FULL = 0.9;
const MEBIBYTE = 2 ** 20;

/** Whether the data of the slots that move fits where it goes, by the averages of where it is. */
export function guardMemory(facts: ValkeyFacts, plan: ValkeyPlan): Verdict {
  const moves = plan.steps.filter((step) => step.kind === 'MigrateSlots');
  if (moves.length === 0) return allowed;
  const masters = new Map(viewShards(facts).map((view) => [view.shard, view.master]));
  const short: string[] = [];
  for (const to of new Set(moves.map((move) => move.to))) {
    const target = masters.get(to) ?? null;
    const limit = target?.maxMemory ?? maxMemoryBytes(facts.cluster.spec);
    if (limit === 0) continue;
    const holds = target === null || countSlots(target.slots) === 0 ? 0 : target.usedMemory;
    const arriving = moves.filter((move) => move.to === to).map((move) => bytesOf(move, masters));
    const leaving = moves.filter((move) => move.from === to).map((move) => bytesOf(move, masters));
    const bytes = [holds, ...arriving];
    if (bytes.includes(undefined)) return unknown('usedMemory of every master that gives or takes slots');
    const needed = sum(bytes) - sum(leaving);
    if (needed > limit * FULL)
      short.push(`shard ${to} needs ${mebibytes(needed)} and has ${mebibytes(limit * FULL)}`);
  }
  if (short.length === 0) return allowed;
  return blocked(
    `${short.join('; ')}: raise spec.resources.limits.memory, keep more masters, or delete data`,
  );
}

function bytesOf(
  move: ValkeyStepOf<'MigrateSlots'>,
  masters: ReadonlyMap<number, ValkeyNode | null>,
): number | undefined {
  const source = masters.get(move.from);
  if (source?.usedMemory === undefined) return undefined;
  const held = countSlots(source.slots);
  return held === 0 ? 0 : (source.usedMemory * move.slotCount) / held;
}

const sum = (values: readonly (number | undefined)[]): number =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0);

const mebibytes = (bytes: number): string => `${Math.ceil(bytes / MEBIBYTE)} MiB`;
