import { failure } from '../../workflows/shared/failures.ts';
import type { SlotRange } from '../../workflows/valkey-cluster/domain/observation.ts';
import { reportProgress, rest } from '../attempt.ts';
import { pollUntil } from '../polling.ts';
import { withMembers, type Member, type ValkeyClients } from './access.ts';
import type { ValkeyActivities } from './contract.ts';
import { ValkeyError } from './errors.ts';
import { moveKeys, slotsOf, type Parties } from './move-keys.ts';
import { closeOpenSlots } from './open-slots.ts';
import { isRunning, planNextMove, readSlotJobs, type SlotJob } from './slot-jobs.ts';
import { countSlots, formatRanges, subtractRanges } from './slots.ts';
import { readView, seeAll } from './view.ts';

type Input = Parameters<ValkeyActivities['migrateValkeySlots']>[0];
type Moved = Awaited<ReturnType<ValkeyActivities['migrateValkeySlots']>>;

const LOOK_EVERY_MS = 50;
/** A job is looked at the more often the younger it is: the looks add little to what is short, and are few for what is long. */
const LOOK_AFTER = { shareOfTime: 1 / 32, leastMs: 10, mostMs: 250 } as const;
const AGREED_EVERY_MS = 10;
const WRITABLE_WITHIN_MS = 30_000;
/** A slot is nobody's, as two servers see it, for a moment only. */
const SETTLES_WITHIN_MS = 3_000;
/** A `MIGRATE` of large values blocks for longer than other commands. */
const TIMEOUT_MS = { connect: 2_000, command: 30_000 } as const;
const REFUSED = /already migrating|not served by this node|Unknown node|not allowed|in progress|manually/;

/** Moves slots with their keys from one master to another, whatever an earlier attempt left of it. */
export function migrateSlots(clients: ValkeyClients, input: Input): Promise<Moved> {
  const { access, source, target, servers, ranges, beside = [] } = input;
  const rest = servers.filter((one) => one.pod !== source.pod && one.pod !== target.pod);
  return withMembers(
    clients,
    access,
    [source, target, ...rest],
    async (members) => {
      const [from, to, ...others] = members;
      const seen = await seeAll(members);
      const [sourceId, targetId] = seen.map(({ view }) => view.self.id);
      if (from === undefined || to === undefined || sourceId === undefined || targetId === undefined)
        throw new Error('a move has two ends');
      await closeOpenSlots({ seen, sourceId, without: beside });
      if (seen[1]?.view.state.ok !== true) await awaitWritable(to);
      const parties = { source: from, target: to, sourceId, targetId, others };
      const moved = await new Migration(parties, ranges).run();
      await pollUntil(AGREED_EVERY_MS, () => lookForAgreement(members, targetId, ranges));
      return moved;
    },
    TIMEOUT_MS,
  );
}

/**
 * Waits until the target says that the cluster is ok: for the first seconds after it has joined, a master refuses
 * clients, and slots that arrived meanwhile would be down with it.
 */
async function awaitWritable(target: Member): Promise<void> {
  const untilMs = performance.now() + WRITABLE_WITHIN_MS;
  await pollUntil(LOOK_EVERY_MS, async () => {
    const { state, pod } = await readView(target);
    if (state.ok) return { done: null };
    const words = `${pod} does not take writes yet: its cluster_state is not ok`;
    if (performance.now() > untilMs) throw failure('ValkeyNotConverged', words);
    return { waiting: words };
  });
}

/** One move under way. */
class Migration {
  readonly #parties: Parties;
  readonly #ranges: readonly SlotRange[];
  readonly #startedMs = performance.now();
  #jobs = 0;
  #keys: number | null = null;
  #byKey = 0;
  #refusals = 0;

  constructor(parties: Parties, ranges: readonly SlotRange[]) {
    this.#parties = parties;
    this.#ranges = ranges;
  }

  async run(): Promise<Moved> {
    const { source, targetId } = this.#parties;
    for (;;) {
      const [left, jobs] = await Promise.all([this.#left(), readSlotJobs(source)]);
      if (left.length === 0) break;
      const to = { target: targetId, nowSeconds: Date.now() / 1_000, refusals: this.#refusals };
      const next = planNextMove(left, jobs, to);
      if (next.how === 'adopt') await this.#follow(next.job, left);
      else if (next.how === 'job') await this.#begin(next.ranges, left);
      else await this.#moveKeys(left, next.why);
    }
    const seconds = Math.round(performance.now() - this.#startedMs) / 1_000;
    const slots = countSlots(this.#ranges);
    return { slots, keys: this.#keys ?? 0, jobs: this.#jobs, slotsByKey: this.#byKey, seconds };
  }

  /** What has not arrived yet; refuses slots that a third node serves. */
  async #left(): Promise<readonly SlotRange[]> {
    const { source, target } = this.#parties;
    const untilMs = performance.now() + SETTLES_WITHIN_MS;
    for (;;) {
      const [from, to] = await Promise.all([readView(source), readView(target)]);
      for (const { self, pod } of [from, to])
        if (self.role !== 'master') throw failure('ValkeySlotBusy', `${pod} is no master any more`);
      const left = subtractRanges(this.#ranges, to.self.slots);
      const strange = subtractRanges(left, from.self.slots);
      if (strange.length === 0) return left;
      if (performance.now() > untilMs)
        throw failure(
          'ValkeySlotBusy',
          `slots ${formatRanges(strange)} are served by neither ${from.pod} nor ${to.pod}`,
        );
      await rest(LOOK_EVERY_MS);
    }
  }

  /** Counts what is to go when it is known to go, and behind the word that begins it: nothing waits for the count. */
  async #count(left: readonly SlotRange[]): Promise<void> {
    this.#keys ??= await countKeys(this.#parties.source, left);
  }

  async #begin(ranges: readonly SlotRange[], left: readonly SlotRange[]): Promise<void> {
    const { source, targetId } = this.#parties;
    const words = ['SLOTSRANGE', ...ranges.flat().map(String), 'NODE', targetId];
    try {
      await Promise.all([source.tell('CLUSTER', 'MIGRATESLOTS', ...words), this.#count(left)]);
      this.#jobs += 1;
    } catch (error) {
      if (!(error instanceof ValkeyError) || !error.isReply || !REFUSED.test(error.message)) throw error;
      // The world has moved between the look and the word: the next look tells how.
      this.#refusals += 1;
      reportProgress(error.message);
      await rest(LOOK_EVERY_MS * 4);
    }
  }

  /** Watches a job until it is over, or forgotten because its server started anew. */
  async #follow(job: SlotJob, left: readonly SlotRange[]): Promise<void> {
    const { source, target } = this.#parties;
    await this.#count(left);
    const total = countSlots(this.#ranges);
    const arrived = total - countSlots(left);
    const startedMs = performance.now();
    for (;;) {
      const now = (await readSlotJobs(source))?.find((one) => one.name === job.name);
      if (now?.state === 'failed') reportProgress(`the job failed: ${now.message}`);
      if (now === undefined || !isRunning(now)) return;
      const bytes = now.remainingBytes > 0 ? `, ${now.remainingBytes} bytes to send` : '';
      reportProgress(
        `${arrived} of ${total} slots (${this.#keys} keys) are at ${target.server.pod}${this.#timeLeft(arrived)}; the job for ${countSlots(job.ranges)} more: ${now.state}${bytes}`,
      );
      const { shareOfTime, leastMs, mostMs } = LOOK_AFTER;
      await rest(Math.min(mostMs, Math.max(leastMs, (performance.now() - startedMs) * shareOfTime)));
    }
  }

  async #moveKeys(left: readonly SlotRange[], why: string): Promise<void> {
    const { target } = this.#parties;
    await this.#count(left);
    const total = countSlots(this.#ranges);
    const before = total - countSlots(left);
    const startedMs = performance.now();
    reportProgress(`${before} of ${total} slots are at ${target.server.pod}; key by key: ${why}`);
    await moveKeys(this.#parties, left, (slots, keys) => {
      const rate = Math.round(keys / ((performance.now() - startedMs) / 1_000));
      reportProgress(
        `${before + slots} of ${total} slots are at ${target.server.pod}, ${keys} of ${this.#keys} keys, ${rate} keys/s${this.#timeLeft(before + slots)}; key by key: ${why}`,
      );
    });
    this.#byKey += countSlots(left);
  }

  #timeLeft(arrived: number): string {
    if (arrived === 0) return '';
    const seconds = (performance.now() - this.#startedMs) / 1_000;
    const total = countSlots(this.#ranges);
    return `, about ${Math.ceil((seconds / arrived) * (total - arrived))} s left`;
  }
}

/** Everybody who was asked sees the target serve the slots, so that clients are led there from everywhere. */
async function lookForAgreement(
  members: readonly Member[],
  targetId: string,
  ranges: readonly SlotRange[],
): Promise<{ readonly done: null } | { readonly waiting: string }> {
  const views = await Promise.all(members.map(readView));
  const behind = views.filter((view) => {
    const slots = view.members.find((node) => node.id === targetId)?.slots ?? [];
    return subtractRanges(ranges, slots).length > 0;
  });
  if (behind.length === 0) return { done: null };
  return { waiting: `all slots have moved; not heard of it yet: ${behind.map(({ pod }) => pod).join(', ')}` };
}

async function countKeys(source: Member, ranges: readonly SlotRange[]): Promise<number> {
  const counts = await Promise.all(
    slotsOf(ranges).map((slot) => source.ask('CLUSTER', 'COUNTKEYSINSLOT', String(slot))),
  );
  return counts.reduce((sum, count) => sum + Number(count), 0);
}
