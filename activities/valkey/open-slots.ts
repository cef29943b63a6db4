import type { SlotRange } from '../../workflows/valkey-cluster/domain/observation.ts';
import { reportProgress } from '../attempt.ts';
import { moveSlotKeys, returnSlotKeys } from './move-keys.ts';
import { contains } from './slots.ts';
import type { Seen } from './view.ts';

/** Whose open slots are to be closed. */
interface Closing {
  readonly seen: readonly Seen[];
  readonly sourceId: string;
  /** Of all slots that leave the source, only these; or all but these. */
  readonly within?: readonly SlotRange[];
  readonly without?: readonly SlotRange[];
}

/**
 * Closes slots that somebody left half moved. One that is open on both sides is moved to its end; one that only the
 * importer knows of goes back to its owner with whatever keys had gone ahead; one that only the owner knows of is closed.
 * Only slots that leave this source: another one may be in the middle of a move of its own.
 */
export async function closeOpenSlots(closing: Closing): Promise<number> {
  const { seen, sourceId, within, without = [] } = closing;
  const open = new Set(
    seen.flatMap(({ view: { self } }) =>
      self.openSlots
        .filter(({ direction, peer }) => (direction === 'migrating' ? self.id : peer) === sourceId)
        .map(({ slot }) => slot),
    ),
  );
  const slots = [...open].filter(
    (slot) => (within === undefined || contains(within, slot)) && !contains(without, slot),
  );
  for (const [at, slot] of slots.entries()) {
    reportProgress(`slot ${slot} was left open: ${at + 1} of ${slots.length} are being closed`);
    await closeOne(seen, slot);
  }
  return slots.length;
}

async function closeOne(seen: readonly Seen[], slot: number): Promise<void> {
  const open = (one: Seen, direction: 'importing' | 'migrating') =>
    one.view.self.openSlots.find((entry) => entry.slot === slot && entry.direction === direction);
  const owner = seen.find((one) => contains(one.view.self.slots, slot));
  const importers = seen.filter((one) => open(one, 'importing') !== undefined);
  const given = owner === undefined ? undefined : open(owner, 'migrating');
  const heir = importers.find((one) => one.view.self.id === given?.peer);
  if (owner === undefined) return; // Its owner is not among us: whoever can speak to it closes it.
  if (heir !== undefined) {
    await moveSlotKeys({ source: owner.member, target: heir.member }, slot);
    const others = seen.filter((one) => one !== heir && one !== owner && one.view.self.role === 'master');
    for (const one of [heir, owner, ...others])
      await one.member.tell('CLUSTER', 'SETSLOT', String(slot), 'NODE', heir.view.self.id);
  }
  for (const one of importers.filter((importer) => importer !== heir)) {
    if (heir === undefined) await returnSlotKeys({ source: one.member, target: owner.member }, slot);
    await one.member.tell('CLUSTER', 'SETSLOT', String(slot), 'STABLE');
  }
  if (heir === undefined && given !== undefined)
    await owner.member.tell('CLUSTER', 'SETSLOT', String(slot), 'STABLE');
  for (const one of seen.filter((other) => other !== owner && open(other, 'migrating') !== undefined))
    await one.member.tell('CLUSTER', 'SETSLOT', String(slot), 'STABLE');
}
