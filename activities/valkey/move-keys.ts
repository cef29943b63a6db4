import type { SlotRange } from '../../workflows/valkey-cluster/domain/observation.ts';
import type { Member } from './access.ts';
import { ValkeyError } from './errors.ts';
import { firstSlots } from './slot-jobs.ts';
import { subtractRanges } from './slots.ts';

/** Who gives, who takes, and the other masters that must hear of it. */
export interface Parties {
  readonly source: Member;
  readonly target: Member;
  readonly sourceId: string;
  readonly targetId: string;
  readonly others: readonly Member[];
}

/** So many slots are open at a time: each open one costs clients a redirection for keys that have gone ahead. */
const SLOTS_AT_ONCE = 32;
const KEYS_AT_ONCE = 100;
const MIGRATE_TIMEOUT_MS = 10_000;

/**
 * Moves slots key by key, a few slots at a time. Every step is the same when it is done twice, so a move that was
 * interrupted anywhere goes on: the source's copy of a key is the newer one for as long as it exists.
 */
export async function moveKeys(
  parties: Parties,
  ranges: readonly SlotRange[],
  tell: (slots: number, keys: number) => void,
): Promise<number> {
  let left = ranges;
  let keys = 0;
  let done = 0;
  while (left.length > 0) {
    const batch = firstSlots(left, SLOTS_AT_ONCE);
    const slots = slotsOf(batch);
    await openSlots(parties, slots);
    for (const slot of slots) keys += await moveSlotKeys(parties, slot);
    await closeSlots(parties, slots);
    done += slots.length;
    tell(done, keys);
    left = subtractRanges(left, batch);
  }
  return keys;
}

/** The target first: a client that is sent there must not be sent back. */
async function openSlots(
  { source, target, sourceId, targetId }: Parties,
  slots: readonly number[],
): Promise<void> {
  await setSlots(target, slots, 'IMPORTING', sourceId);
  await setSlots(source, slots, 'MIGRATING', targetId);
}

/** The target first, so that at no moment nobody serves the slot; then whoever else gives directions to clients. */
async function closeSlots(
  { source, target, targetId, others }: Parties,
  slots: readonly number[],
): Promise<void> {
  await setSlots(target, slots, 'NODE', targetId);
  await setSlots(source, slots, 'NODE', targetId);
  await Promise.all(others.map((other) => setSlots(other, slots, 'NODE', targetId)));
}

const setSlots = (
  member: Member,
  slots: readonly number[],
  state: 'IMPORTING' | 'MIGRATING' | 'NODE',
  nodeId: string,
): Promise<unknown> =>
  Promise.all(slots.map((slot) => member.tell('CLUSTER', 'SETSLOT', String(slot), state, nodeId)));

/** Moves the keys of an open slot until it holds none; answers how many went. */
export async function moveSlotKeys(
  { source, target }: Pick<Parties, 'source' | 'target'>,
  slot: number,
): Promise<number> {
  const { ip, port } = target.server;
  const auth = authWords(target);
  for (let moved = 0; ;) {
    const keys = await source.askList('CLUSTER', 'GETKEYSINSLOT', String(slot), String(KEYS_AT_ONCE));
    if (keys.length === 0) return moved;
    const names = keys.map((key) => (Buffer.isBuffer(key) ? key : String(key)));
    const to = [ip, String(port), '', '0', String(MIGRATE_TIMEOUT_MS), 'REPLACE', ...auth];
    await source.tell('MIGRATE', ...to, 'KEYS', ...names);
    moved += keys.length;
  }
}

/** Brings keys that lie at an importer back to the slot's owner; one that the owner has too is the older copy. */
export async function returnSlotKeys(
  { source: importer, target: owner }: Pick<Parties, 'source' | 'target'>,
  slot: number,
): Promise<void> {
  const auth = authWords(owner);
  const to = [owner.server.ip, String(owner.server.port)];
  const rest = ['0', String(MIGRATE_TIMEOUT_MS), ...auth];
  for (;;) {
    const keys = await importer.askList('CLUSTER', 'GETKEYSINSLOT', String(slot), String(KEYS_AT_ONCE));
    if (keys.length === 0) return;
    for (const key of keys) {
      const name = Buffer.isBuffer(key) ? key : String(key);
      try {
        await importer.tell('MIGRATE', ...to, name, ...rest);
      } catch (error) {
        if (!(error instanceof ValkeyError) || !error.message.includes('BUSYKEY')) throw error;
        await importer.tell('ASKING');
        await importer.tell('DEL', name);
      }
    }
  }
}

/** What the target let us in with, its sender presents to it too. */
const authWords = ({ credentials: { user, password } }: Member): readonly string[] =>
  password === null ? [] : ['AUTH2', user, password];

/** Ranges as single slots. */
export const slotsOf = (ranges: readonly SlotRange[]): readonly number[] =>
  ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => first + at));
