import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster } from 'iovalkey';
import { CLIENT_PORT } from '../../workflows/valkey-cluster/domain/names.ts';
import type { ClusterWorld } from './cluster-world.ts';
import { keySlot } from './key-slot.ts';
import { ipOf } from './server-view.ts';

/** What became of everything that was written while something else went on. */
export interface AuditReport {
  /** Writes that the servers acknowledged. */
  readonly writes: number;
  /** Those of them that a replica had too, by `WAIT`. */
  readonly confirmed: number;
  readonly reads: number;
  readonly seconds: number;
  readonly errors: Readonly<Record<string, number>>;
  /** The longest time in which no write to a sixteenth of the slots was acknowledged, for each sixteenth. */
  readonly gapsMs: readonly number[];
  readonly longestGapMs: number;
  /** Of a hundred writes the slowest but one took this long. */
  readonly p99Ms: number;
  /** Writes that are not there: of those that count, and of those that a killed master may have lost. */
  readonly lost: readonly string[];
  readonly lostUnconfirmed: number;
  readonly wentBack: readonly string[];
}

export interface AuditOptions {
  readonly connections?: number;
  /** Waits for so many replicas after each write, and holds only such writes to be there at the end. */
  readonly confirmedBy?: number;
  /** How long each writer rests after each write: light load, where the amount of data matters. */
  readonly restMs?: number;
}

const RANGES = 16;
const RANGE_SLOTS = 16_384 / RANGES;
const COUNTERS = 64;
const CONFIRM_MS = 500;
const READ_EVERY = 8;
const VERIFY_AT_ONCE = 64;
const LAST_ANSWERS_MS = 3_000;
const CONNECT_WITHIN_MS = 10_000;
const REFRESH_MS = 2_000;

interface Written {
  readonly key: string;
  readonly value: string;
  readonly confirmed: boolean;
}

/** Writers and readers on a live cluster, each with a client of its own that follows redirections. */
export class Audit {
  readonly #world: ClusterWorld;
  readonly #clients: readonly Cluster[];
  readonly #confirmedBy: number;
  readonly #restMs: number;
  readonly #written: Written[] = [];
  readonly #counters = new Map<string, { value: number; confirmed: boolean }>();
  readonly #wentBack: string[] = [];
  readonly #missed: string[] = [];
  readonly #errors: Record<string, number> = {};
  readonly #lastAckMs: number[];
  readonly #gapsMs: number[] = Array.from({ length: RANGES }, () => 0);
  readonly #latenciesMs: number[] = [];
  readonly #startedMs = performance.now();
  readonly #running: Promise<unknown>;
  readonly #closed = Promise.withResolvers<never>();
  #reads = 0;
  #ended = false;
  #report: Promise<AuditReport> | null = null;

  private constructor(
    world: ClusterWorld,
    clients: readonly Cluster[],
    { confirmedBy = 0, restMs = 0 }: AuditOptions,
  ) {
    this.#world = world;
    this.#clients = clients;
    this.#confirmedBy = confirmedBy;
    this.#restMs = restMs;
    this.#lastAckMs = Array.from({ length: RANGES }, () => this.#startedMs);
    this.#closed.promise.catch(() => {}); // Whoever still waits for an answer hears it.
    this.#running = Promise.all(clients.map((client, at) => this.#work(client, at)));
  }

  static async start(world: ClusterWorld, options: AuditOptions = {}): Promise<Audit> {
    const connections = Array.from({ length: options.connections ?? 8 });
    const clients = await Promise.all(connections.map(() => connectCluster(world)));
    return new Audit(world, clients, options);
  }

  /** How many writes were acknowledged until now. */
  get writes(): number {
    return this.#written.length;
  }

  /** Resolves once so many writes were acknowledged. */
  async reached(writes: number): Promise<void> {
    await this.#world.until(async () =>
      this.writes >= writes ? { found: true } : { missing: `${writes} writes, not ${this.writes}` },
    );
  }

  /** Ends the writers, and looks for everything that they were told is written; again it answers the same. */
  stop(): Promise<AuditReport> {
    this.#report ??= this.#end();
    return this.#report;
  }

  async #end(): Promise<AuditReport> {
    this.#ended = true;
    // A client that knows only addresses which nobody has any more would wait for ever.
    await Promise.race([this.#running, sleep(LAST_ANSWERS_MS)]);
    this.#closed.reject(new Error('the audit is over'));
    for (const client of this.#clients) client.disconnect();
    await this.#running;
    this.#gapsMs.forEach((_, range) => this.#acknowledged(range));
    const seconds = (performance.now() - this.#startedMs) / 1_000;
    const missing = await this.#verify();
    const counts = (one: Written): boolean => this.#confirmedBy === 0 || one.confirmed;
    return {
      writes: this.#written.length,
      confirmed: this.#written.filter((one) => one.confirmed).length,
      reads: this.#reads,
      seconds: Math.round(seconds * 10) / 10,
      errors: this.#errors,
      gapsMs: this.#gapsMs.map(Math.round),
      longestGapMs: Math.round(Math.max(...this.#gapsMs)),
      p99Ms: percentile(this.#latenciesMs, 0.99),
      lost: [...this.#missed, ...missing.filter(counts).map(({ key }) => key)],
      lostUnconfirmed: missing.filter((one) => !counts(one)).length,
      wentBack: this.#wentBack,
    };
  }

  async #work(client: Cluster, writer: number): Promise<void> {
    for (let turn = 0; !this.#ended; turn += 1) {
      try {
        await Promise.race([this.#turn(client, writer, turn), this.#closed.promise]);
        if (this.#restMs > 0) await sleep(this.#restMs);
      } catch (error) {
        const kind = kindOf(error);
        this.#errors[kind] = (this.#errors[kind] ?? 0) + 1;
        await sleep(10);
      }
    }
  }

  async #turn(client: Cluster, writer: number, turn: number): Promise<void> {
    if (turn % 2 === 0) await this.#writeKey(client, writer, turn);
    else await this.#count(client, writer, turn);
    if (turn % READ_EVERY === 0) await this.#readBack(client, writer);
  }

  async #writeKey(client: Cluster, writer: number, turn: number): Promise<void> {
    const key = `unique:{${writer}-${turn}}`;
    const value = `${writer}/${turn}`;
    const { confirmed } = await this.#send(client, 'set', key, value);
    this.#written.push({ key, value, confirmed });
    this.#acknowledged(Math.floor(keySlot(key) / RANGE_SLOTS));
  }

  async #count(client: Cluster, writer: number, turn: number): Promise<void> {
    const key = `counter:{${writer}-${(turn * 7) % COUNTERS}}`;
    const { answer, confirmed } = await this.#send(client, 'incr', key);
    const value = Number(answer);
    const before = this.#counters.get(key);
    const binding = before !== undefined && (this.#confirmedBy === 0 || before.confirmed);
    if (binding && value <= before.value) this.#wentBack.push(`${key}: ${before.value}, then ${value}`);
    this.#counters.set(key, { value, confirmed });
    this.#acknowledged(Math.floor(keySlot(key) / RANGE_SLOTS));
  }

  async #readBack(client: Cluster, writer: number): Promise<void> {
    const own = this.#written[(this.#written.length * (writer + 1)) >> 4];
    if (own === undefined || (this.#confirmedBy > 0 && !own.confirmed)) return;
    this.#reads += 1;
    if ((await client.get(own.key)) !== own.value) this.#missed.push(`${own.key} (while running)`);
  }

  /** A write, its name as the client knows it, or it would not find the key; and on the same connection the question how many replicas have it. */
  async #send(
    client: Cluster,
    ...command: readonly [string, string, ...string[]]
  ): Promise<{ readonly answer: unknown; readonly confirmed: boolean }> {
    const [name, ...args] = command;
    const sentMs = performance.now();
    if (this.#confirmedBy === 0) {
      const answer = await client.call(name, ...args);
      this.#latenciesMs.push(performance.now() - sentMs);
      return { answer, confirmed: false };
    }
    const wait = ['wait', String(this.#confirmedBy), String(CONFIRM_MS)] as const;
    const answers = await client.pipeline([[name, ...args], [...wait]]).exec();
    const [[failed, answer] = [new Error('no answer')], [, replicas] = []] = answers ?? [];
    if (failed !== null && failed !== undefined) throw failed;
    this.#latenciesMs.push(performance.now() - sentMs);
    return { answer, confirmed: Number(replicas ?? 0) >= this.#confirmedBy };
  }

  #acknowledged(range: number): void {
    const nowMs = performance.now();
    this.#gapsMs[range] = Math.max(this.#gapsMs[range] ?? 0, nowMs - (this.#lastAckMs[range] ?? nowMs));
    this.#lastAckMs[range] = nowMs;
  }

  /** Answers the writes that are not there, counters that are behind their last acknowledged value among them. */
  async #verify(): Promise<readonly Written[]> {
    const all = [
      ...this.#written.map((one) => ({ ...one, holds: (found: string) => found === one.value })),
      ...[...this.#counters].map(([key, { value, confirmed }]) => ({
        key,
        value: String(value),
        confirmed,
        holds: (found: string) => Number(found) >= value,
      })),
    ];
    const missing: Written[] = [];
    // Whoever wrote may know addresses only that nobody has any more.
    const client = await connectCluster(this.#world);
    for (let at = 0; at < all.length; at += VERIFY_AT_ONCE) {
      const batch = all.slice(at, at + VERIFY_AT_ONCE);
      const found = await Promise.all(batch.map(({ key }) => client.get(key)));
      batch.forEach((one, index) => {
        const text = found[index];
        if (text === null || text === undefined || !one.holds(text)) missing.push(one);
      });
    }
    client.disconnect();
    return missing;
  }
}

async function openCluster(world: ClusterWorld): Promise<Cluster> {
  const hosts = (await world.list('pods')).flatMap((pod) => ipOf(pod) ?? []);
  const client = new Cluster(
    hosts.map((host) => ({ host, port: CLIENT_PORT })),
    {
      lazyConnect: true,
      redisOptions: { password: world.password, connectTimeout: 2_000, commandTimeout: 10_000 },
      retryDelayOnFailover: 50,
      retryDelayOnClusterDown: 50,
      retryDelayOnTryAgain: 20,
      maxRedirections: 64,
      clusterRetryStrategy: () => 100,
    },
  );
  client.on('error', () => {}); // The rejected command tells.
  // The client's own timer for this outlives a disconnect in the middle of a refresh, and the process with it.
  const refreshing = setInterval(() => client.refreshSlotsCache(), REFRESH_MS).unref();
  client.once('end', () => clearInterval(refreshing));
  return client;
}

/** A client that has found the cluster; one that found nobody at its first look may never look again. */
async function connectCluster(world: ClusterWorld): Promise<Cluster> {
  return world.until(async () => {
    const client = await openCluster(world);
    const found = await Promise.race([
      client.connect().then(
        () => true,
        () => false,
      ),
      sleep(CONNECT_WITHIN_MS, false),
    ]);
    if (found) return { found: client };
    client.disconnect();
    return { missing: 'a client that finds the cluster' };
  });
}

const percentile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 10) / 10;
};

/** `MOVED`, `CLUSTERDOWN`, or what the client calls it. */
const kindOf = (error: unknown): string =>
  error instanceof Error
    ? (/^[A-Z]+(?= )/.exec(error.message)?.[0] ?? error.message.slice(0, 60))
    : String(error);
