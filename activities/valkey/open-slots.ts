import type { Member } from './access.ts';
import type { Credentials } from './client.ts';
import { moveSlotKeys, returnSlotKeys } from './move-keys.ts';
import { readView, type View } from './view.ts';

interface Seen {
  readonly member: Member;
  readonly view: View;
}

/**
 * Closes slots that somebody left half moved. One that is open on both sides is moved to its end; one that only the
 * importer knows of goes back to its owner with whatever keys had gone ahead; one that only the owner knows of is closed.
 * Only slots that leave this source: another one may be in the middle of a move of its own.
 */
export async function closeOpenSlots(
  members: readonly Member[],
  sourceId: string,
  credentials: Credentials,
  tell: (words: string) => void,
): Promise<number> {
  const seen = await Promise.all(
    members.map(async (member): Promise<Seen> => ({ member, view: await readView(member) })),
  );
  const slots = new Set(
    seen.flatMap(({ view: { self } }) =>
      self.openSlots
        .filter(({ direction, peer }) => (direction === 'migrating' ? self.id : peer) === sourceId)
        .map(({ slot }) => slot),
    ),
  );
  let closed = 0;
  for (const slot of slots) {
    tell(`slot ${slot} was left open: ${(closed += 1)} of ${slots.size} are being closed`);
    await closeOne(seen, slot, credentials);
  }
  return slots.size;
}

async function closeOne(seen: readonly Seen[], slot: number, credentials: Credentials): Promise<void> {
  const open = (one: Seen, direction: 'importing' | 'migrating') =>
    one.view.self.openSlots.find((entry) => entry.slot === slot && entry.direction === direction);
  const owner = seen.find((one) =>
    one.view.self.slots.some(([first, last]) => first <= slot && slot <= last),
  );
  const importers = seen.filter((one) => open(one, 'importing') !== undefined);
  const given = owner === undefined ? undefined : open(owner, 'migrating');
  const heir = importers.find((one) => one.view.self.id === given?.peer);
  if (owner === undefined) return; // Its owner is not among us: whoever can speak to it closes it.
  if (heir !== undefined) {
    await moveSlotKeys({ source: owner.member, target: heir.member, credentials }, slot);
    const others = seen.filter((one) => one !== heir && one !== owner && one.view.self.role === 'master');
    for (const one of [heir, owner, ...others])
      await one.member.tell('CLUSTER', 'SETSLOT', String(slot), 'NODE', heir.view.self.id);
  }
  for (const one of importers.filter((importer) => importer !== heir)) {
    if (heir === undefined)
      await returnSlotKeys({ source: one.member, target: owner.member, credentials }, slot);
    await one.member.tell('CLUSTER', 'SETSLOT', String(slot), 'STABLE');
  }
  if (heir === undefined && given !== undefined)
    await owner.member.tell('CLUSTER', 'SETSLOT', String(slot), 'STABLE');
  for (const one of seen.filter((other) => other !== owner && open(other, 'migrating') !== undefined))
    await one.member.tell('CLUSTER', 'SETSLOT', String(slot), 'STABLE');
}
