import { setTimeout as sleep } from 'node:timers/promises';
import type { StackHandle } from '../../../deploy/local/testing.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';
import { applyUpgrade, readUpgrade, tagsOf } from '../../valkey/upgrade-world.ts';
import type { FaultOperation } from '../operation.ts';
import { oneEntityRuns, ownerOfAll } from './valkey-invariants.ts';
import { WritableNodes } from './writable-nodes.ts';
import { SMALL, unsettled, Writers } from './writers.ts';

const OLDEST = '8.1.8';
const OLD = '9.0.0';
const NEW = '9.1.2';
const MISSING = '9.9.9';
const MASTERS = 3;

/** What is asked for, and how it is to end. */
interface Wish {
  readonly target: string;
  readonly phase: 'Completed' | 'RolledBack';
  /** What every pod runs in the end. */
  readonly tag: string;
}

/** Which cluster is upgraded, how, and to what. */
interface Play {
  readonly name: string;
  /** The version that a cluster begins with. */
  readonly first: string;
  readonly spec: Readonly<Record<string, unknown>>;
  wishFor(running: string): Wish;
  /** Whether somebody cancels it where it asks for an approval. */
  readonly cancelled?: true;
}

/** An upgrade of 3 masters with a replica each, with writers on it, and somebody who knocks at every node, all the while. */
const upgradeUnderAudit =
  ({ name, first, spec, wishFor, cancelled }: Play) =>
  (stack: StackHandle): FaultOperation<ClusterWorld> => {
    const writers = new Writers();
    const nodes = new WritableNodes(MASTERS);
    const played = new Map<ClusterWorld, Wish & { readonly upgrade: string }>();
    const spare = new Set<ClusterWorld>();
    const persons = new Map<ClusterWorld, Canceller>();
    let serial = 0;
    const playedIn = (world: ClusterWorld): Wish & { readonly upgrade: string } => {
      const found = played.get(world);
      if (found === undefined) throw new Error('the upgrade was not begun');
      return found;
    };
    return {
      name,
      alone: [],
      // A cluster that came out of a run whole, and with nothing under way, is as good as a new one: the next run goes on
      // from the version on which it is.
      begin: async () => [...spare][0] ?? ClusterWorld.create(stack),
      async prepare(world) {
        if (spare.delete(world)) return;
        await world.applyWithSecret({ ...SMALL, image: { tag: first, allowDowngrade: true } });
        await world.awaitPhase('Running');
      },
      async start(world) {
        const [running = first] = await tagsOf(world);
        serial += 1;
        const wish = { ...wishFor(running), upgrade: `upgrade-${serial}` };
        played.set(world, wish);
        await writers.begin(world);
        nodes.begin(world);
        await applyUpgrade(world, wish.upgrade, wish.target, spec);
        if (cancelled === true) persons.set(world, new Canceller(world, wish.upgrade));
      },
      async unfinished(world) {
        const { upgrade, phase } = playedIn(world);
        const seen = await readUpgrade(world, upgrade);
        if (seen?.status?.phase !== phase)
          return `the upgrade is ${seen?.status?.phase ?? 'new'}: ${seen?.status?.message ?? ''}`;
        return unsettled(world);
      },
      invariants: [
        { says: 'the cluster is whole', broken: (world) => wrongWith(world, MASTERS, 1) },
        {
          says: 'every pod runs the version that is wanted',
          async broken(world) {
            const tags = await tagsOf(world);
            const { tag } = playedIn(world);
            return tags.join() === tag ? null : `${tags.join(', ')} instead of ${tag}`;
          },
        },
        ownerOfAll,
        oneEntityRuns,
        nodes.oneForEachSlot,
        writers.nothingIsLost,
      ],
      async end(world) {
        await persons.get(world)?.leave();
        await nodes.end(world);
        const tag = played.get(world)?.tag;
        const lost = await writers.nothingIsLost.broken(world);
        if (lost === null && tag !== undefined && (await isAtRest(world, tag))) spare.add(world);
        else await writers.end(world);
      },
    };
  };

const LOOK_MS = 200;

/** A person who cancels an upgrade where it asks for an approval: once, whoever is killed before it is heard. */
class Canceller {
  readonly #world: ClusterWorld;
  readonly #upgrade: string;
  readonly #work: Promise<void>;
  #leaves = false;

  constructor(world: ClusterWorld, upgrade: string) {
    this.#world = world;
    this.#upgrade = upgrade;
    this.#work = this.#watch();
  }

  async leave(): Promise<void> {
    this.#leaves = true;
    await this.#work;
  }

  async #watch(): Promise<void> {
    while (!this.#leaves) {
      // The API server or Temporal may be the one that was killed: a person tries again.
      if (await this.#cancels().catch(() => false)) return;
      await sleep(LOOK_MS);
    }
  }

  async #cancels(): Promise<boolean> {
    const seen = await readUpgrade(this.#world, this.#upgrade);
    const conditions = seen?.status?.conditions ?? [];
    if (conditions.every(({ reason }) => reason !== 'AwaitingApproval')) return false;
    const entity = (await this.#world.temporal()).workflow.getHandle(this.#world.entityId);
    await entity.executeUpdate('cancelOperation', {
      args: [{ reason: 'not past the point of no return' }],
      updateId: `cancel-${this.#upgrade}`,
    });
    return true;
  }
}

/** Whether nothing is wrong with a cluster, nothing is left to be done, and nobody is on the way to anything. */
const isAtRest = async (world: ClusterWorld, tag: string): Promise<boolean> =>
  (await tagsOf(world)).join() === tag &&
  (await unsettled(world)) === null &&
  (await wrongWith(world, MASTERS, 1).catch(String)) === null;

/** From 9.0.0 to 9.1.2, or from there to 9.0.0, with a surge: every kind of step of an upgrade. */
export const valkeyUpgrade = upgradeUnderAudit({
  name: 'valkey-upgrade',
  first: OLD,
  spec: { strategy: 'Surge', stabilitySeconds: 0 },
  wishFor(running) {
    const tag = running === OLD ? NEW : OLD;
    return { target: tag, phase: 'Completed', tag };
  },
});

/** Back at the last moment at which there is a way: one node of each version, the new one leads, the old can not read it. */
export const valkeyRollback = upgradeUnderAudit({
  name: 'valkey-rollback',
  first: OLDEST,
  spec: { strategy: 'InPlace', stabilitySeconds: 0, approval: 'PointOfNoReturn' },
  wishFor: (running) => ({ target: NEW, phase: 'RolledBack', tag: running }),
  cancelled: true,
});

/** Back from a version whose image does not exist. */
export const valkeyBadTarget = upgradeUnderAudit({
  name: 'valkey-bad-target',
  first: OLD,
  spec: { strategy: 'InPlace', stabilitySeconds: 0, podReadyTimeoutSeconds: 5 },
  wishFor: (running) => ({ target: MISSING, phase: 'RolledBack', tag: running }),
});
