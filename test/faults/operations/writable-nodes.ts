import { setTimeout as sleep } from 'node:timers/promises';
import type { Valkey } from 'iovalkey';
import type { ClusterWorld } from '../../valkey/cluster-world.ts';
import { keySlot } from '../../valkey/key-slot.ts';
import { connect, ipOf } from '../../valkey/server-view.ts';
import type { Invariant } from '../operation.ts';
import { findRivals, Reigns } from './reigns.ts';

const KNOCK_EVERY_MS = 100;
const LOOK_EVERY_ROUNDS = 3;
const SLOTS = 16_384;

/** A write, and in one breath with it who took it and in which epoch. */
const WRITE = `
redis.call('SET', KEYS[1], ARGV[1])
return { redis.call('CLUSTER', 'MYID'), redis.call('CLUSTER', 'INFO') }
`;

/** Knocks at every node of the clusters of one campaign all the while: of two nodes that take a write for a slot, one lies. */
export class WritableNodes {
  readonly #masters: number;
  readonly #probes = new Map<ClusterWorld, Probe>();

  constructor(masters: number) {
    this.#masters = masters;
  }

  readonly oneForEachSlot: Invariant<ClusterWorld> = {
    says: 'never did two nodes take a direct write for the same slot',
    broken: async (world) => {
      const probe = this.#probes.get(world);
      if (probe === undefined) return 'nobody knocked';
      await probe.stop();
      return probe.verdict();
    },
  };

  begin(world: ClusterWorld): void {
    this.#probes.set(world, new Probe(world, keysOfShards(this.#masters)));
  }

  async end(world: ClusterWorld): Promise<void> {
    await this.#probes.get(world)?.stop();
    this.#probes.delete(world);
  }
}

class Probe {
  readonly #world: ClusterWorld;
  readonly #keys: readonly string[];
  readonly #doors = new Map<string, Valkey>();
  readonly #reigns = new Reigns();
  readonly #running: Promise<void>;
  #over = false;
  #refused = 0;

  constructor(world: ClusterWorld, keys: readonly string[]) {
    this.#world = world;
    this.#keys = keys;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#over = true;
    await this.#running;
  }

  /** What was found; that too little was seen to tell is a finding as well. */
  verdict(): string | null {
    const unseen = this.#keys.find((key) => this.#reigns.all.every(({ slot }) => slot !== keySlot(key)));
    if (unseen !== undefined) return `nobody took a write for slot ${keySlot(unseen)}`;
    if (this.#refused === 0) return 'no node refused a write: not every node was asked';
    return findRivals(this.#reigns.all);
  }

  async #run(): Promise<void> {
    const knocking = new Set<Promise<void>>();
    const busy = new Set<string>();
    for (let round = 0; !this.#over; round += 1) {
      if (round % LOOK_EVERY_ROUNDS === 0) await this.#openDoors();
      for (const [ip, client] of this.#doors) {
        if (busy.has(ip)) continue;
        busy.add(ip);
        const knock = this.#knock(ip, client, round).finally(() => {
          busy.delete(ip);
          knocking.delete(knock);
        });
        knocking.add(knock);
      }
      await sleep(KNOCK_EVERY_MS);
    }
    for (const client of this.#doors.values()) client.disconnect();
    await Promise.all(knocking);
  }

  /** A pod that is on its way out is still asked, for as long as its server answers. */
  async #openDoors(): Promise<void> {
    const ips = await this.#world.list('pods').then(
      (pods) => pods.flatMap((pod) => ipOf(pod) ?? []),
      () => [], // The API server may be among what is disturbed; the doors that are open stay so.
    );
    for (const ip of ips.filter((one) => !this.#doors.has(one))) {
      const client = connect(this.#world, ip);
      this.#doors.set(ip, client);
    }
  }

  async #knock(ip: string, client: Valkey, round: number): Promise<void> {
    try {
      if (client.status === 'wait') await client.connect();
      await Promise.all(this.#keys.map((key) => this.#write(client, key, round)));
    } catch {
      // Nobody is there, or not any more; whoever comes to this address next is asked anew.
      client.disconnect();
      this.#doors.delete(ip);
    }
  }

  async #write(client: Valkey, key: string, round: number): Promise<void> {
    const sentMs = performance.now();
    const answer = await client.call('EVAL', WRITE, '1', key, String(round)).catch((error: unknown) => {
      if (error instanceof Error && error.name === 'ReplyError') return null;
      throw error;
    });
    const answeredMs = performance.now();
    if (answer === null) {
      this.#refused += 1;
      return;
    }
    const [nodeId, info] = answer as readonly [string, string];
    const epoch = Number(/^cluster_my_epoch:(\d+)/m.exec(info)?.[1]);
    this.#reigns.add({ slot: keySlot(key), nodeId, epoch, sentMs, answeredMs });
  }
}

/** A key for each shard of a cluster that was created with so many masters, from the middle of its slots. */
const keysOfShards = (masters: number): readonly string[] =>
  Array.from({ length: masters }, (_, shard) => {
    const middle = Math.floor(((shard + 0.5) * SLOTS) / masters);
    for (let at = 0; ; at += 1)
      if (Math.abs(keySlot(`probe:{${at}}`) - middle) < 1_000) return `probe:{${at}}`;
  });
