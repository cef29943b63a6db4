import type { StackHandle } from '../../../deploy/local/testing.ts';
import type { EntityStatus, OperationProgress } from '../../../workflows/shared/messages.ts';
import { DEFAULT_SPEC } from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';
import { startStackFor } from '../../clean-end.ts';
import { Audit, type AuditReport } from '../../valkey/audit.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { tellServers } from '../../valkey/server-view.ts';
import type { Bench } from '../bench.ts';
import { median, round } from '../figures.ts';
import { migrateByHand } from '../fixtures/valkey-migrate.ts';
import { applyByHand, cliCluster } from '../fixtures/valkey-by-hand.ts';
import { fillSlots, readHoldings, slotsOf } from '../fixtures/valkey-data.ts';

const KEYS_PER_SLOT = 62;
const FEWEST_SLOTS = 4_096;
const EVEN = [4096, 4096, 4096, 4096];
const BEFORE = [0, 5461, 5461, 5462];
/** What takes a second is measured so often; what takes a minute once. */
const QUICK_ROUNDS = 3;
const LIGHT = { connections: 8, restMs: 5 } as const;

/** What moving out and back took, and what the writers saw meanwhile. */
interface Trip {
  readonly ms: number;
  readonly slots: number;
  readonly report: AuditReport;
}

/** Slots to a fourth master and back, over what a person has for it. */
export const valkeyScaleOut: Bench = {
  name: 'valkey-scale-out',
  about:
    'Moving the slots of a scale-out from 3 to 4 masters and back, with a million keys over all slots and light writes, over `valkey-cli --cluster rebalance` on the same pods built afresh. Both are verified by what each master holds.',
  goal: 0.05,
  rounds: 1,
  async prepare(afterwards, interrupted) {
    const stack = await startStackFor(afterwards, { signal: interrupted });
    const trips: Record<'ours' | 'bare' | 'cli' | 'keysOurs' | 'keysCli', Trip[]> = {
      ours: [],
      bare: [],
      cli: [],
      keysOurs: [],
      keysCli: [],
    };
    return {
      async ours() {
        trips.ours.push(...(await byKeelson(stack, '9.1.2', QUICK_ROUNDS)));
        trips.keysOurs.push(...(await byKeelson(stack, '8.1.8', 1)));
        return median(trips.ours.map(({ ms }) => ms));
      },
      async floor() {
        const { cli, bare } = await byPerson(stack, '9.1.2', QUICK_ROUNDS);
        trips.cli.push(cli);
        trips.bare.push(...bare);
        trips.keysCli.push((await byPerson(stack, '8.1.8', 0)).cli);
        return cli.ms;
      },
      verdict() {
        const over = (ours: readonly Trip[], floor: readonly Trip[]): number =>
          round(median(ours.map(({ ms }) => ms)) / median(floor.map(({ ms }) => ms)));
        const bare = over(trips.ours, trips.bare);
        const keys = over(trips.keysOurs, trips.keysCli);
        const slots = median([...trips.ours, ...trips.keysOurs].map((trip) => trip.slots / FEWEST_SLOTS / 2));
        return {
          ok: bare <= 1.3 && keys <= 1 && slots === 1,
          says: `Over bare parallel MIGRATESLOTS by hand ${bare} (goal ≤ 1.3); key by key on 8.1.8 over valkey-cli ${keys} (goal ≤ 1); slots moved over the fewest possible ${slots} (goal 1).`,
        };
      },
      beside: () =>
        Promise.resolve(
          Object.entries(trips).flatMap(([name, all]) => all.map((trip) => describeTrip(name, trip))),
        ),
    };
  },
};

const specOf = (tag: string, masters: number) => ({
  masters,
  replicasPerMaster: 0,
  image: { ...DEFAULT_SPEC.image, tag },
  auth: { secretRef: { name: 'cache-auth', key: 'password' } },
  // Nothing but the move writes to a disk or forks.
  persistence: { ...DEFAULT_SPEC.persistence, enabled: false },
});

async function byKeelson(stack: StackHandle, tag: string, rounds: number): Promise<readonly Trip[]> {
  const world = await ClusterWorld.create(stack);
  try {
    await world.applyWithSecret(specOf(tag, 3));
    await world.awaitPhase('Running');
    await fill(world);
    const trips: Trip[] = [];
    for (let at = 0; at < rounds; at += 1)
      trips.push(
        await underLoad(world, async () => {
          const out = await scaleTo(world, tag, 4);
          await verify(world, EVEN);
          const back = await scaleTo(world, tag, 3);
          await verify(world, BEFORE.slice(1));
          return { ms: out.ms + back.ms, slots: out.slots + back.slots };
        }),
      );
    return trips;
  } finally {
    await world.remove();
  }
}

/** Scales as a user does; answers how long the migration itself took, from its first step to its last. */
async function scaleTo(
  world: ClusterWorld,
  tag: string,
  masters: number,
): Promise<{ readonly ms: number; readonly slots: number }> {
  const { workflow } = await world.temporal();
  await world.apply(specOf(tag, masters));
  const id = await world.until(async () => {
    const { operation } = await workflow.getHandle(world.entityId).query<EntityStatus>('status');
    return operation === null ? { missing: 'an operation' } : { found: operation.workflowId };
  });
  await world.awaitPhase('Running');
  const { steps } = await workflow.getHandle(id).query<OperationProgress>('progress');
  const moves = steps.filter((step) => step.kind === 'MigrateSlots');
  const startedMs = Math.min(...moves.map((step) => step.startedAtMs ?? Number.NaN));
  const endedMs = Math.max(...moves.map((step) => step.endedAtMs ?? Number.NaN));
  const slots = moves.reduce((sum, step) => sum + Number(step.facts?.['slots'] ?? 0), 0);
  return { ms: endedMs - startedMs, slots };
}

/** The same pods, formed by hand, with a fourth master that serves nothing. */
async function byPerson(
  stack: StackHandle,
  tag: string,
  bareRounds: number,
): Promise<{ readonly cli: Trip; readonly bare: readonly Trip[] }> {
  const world = await ClusterWorld.create(stack);
  try {
    await world.createSecret();
    const [fourth = '', ...three] = await applyByHand(world, specOf(tag, 4));
    const [entry = ''] = three;
    await cliCluster(world, 'create', ...three, '--cluster-yes');
    await cliCluster(world, 'add-node', fourth, entry);
    await verify(world, BEFORE);
    await fill(world);
    const bare: Trip[] = [];
    for (let at = 0; at < bareRounds; at += 1)
      bare.push(await underLoad(world, () => migrateByHand(world, fourth)));
    const cli = await underLoad(world, async () => {
      const outMs = await timed(() => cliCluster(world, 'rebalance', entry, '--cluster-use-empty-masters'));
      await verify(world, EVEN);
      const id = (await readHoldings(world)).find(({ address }) => address === fourth)?.id ?? '';
      const backMs = await timed(() => cliCluster(world, 'rebalance', entry, '--cluster-weight', `${id}=0`));
      await verify(world, BEFORE);
      return { ms: outMs + backMs, slots: 2 * FEWEST_SLOTS };
    });
    return { cli, bare };
  } finally {
    await world.remove();
  }
}

async function fill(world: ClusterWorld): Promise<void> {
  await world.until(async () => {
    const states = await tellServers(world, (client) => client.cluster('INFO'));
    return states.every((info) => info.includes('cluster_state:ok'))
      ? { found: true }
      : { missing: 'every node to take writes' };
  });
  const keys = await fillSlots(world, KEYS_PER_SLOT);
  if (keys < 1_000_000) throw new Error(`${keys} keys were written, fewer than a million`);
}

/** Waits until the masters hold so many slots; a tool's exit code alone proves nothing. */
async function verify(world: ClusterWorld, shares: readonly number[]): Promise<void> {
  await world.until(async () => {
    const held = (await readHoldings(world)).map(slotsOf).toSorted((a, b) => a - b);
    return held.every((slots, at) => Math.abs(slots - (shares[at] ?? -9)) <= 1)
      ? { found: true }
      : { missing: `shares of ${shares.join('/')}, not ${held.join('/')}` };
  });
}

async function underLoad(
  world: ClusterWorld,
  move: () => Promise<{ readonly ms: number; readonly slots: number }>,
): Promise<Trip> {
  const audit = await Audit.start(world, LIGHT);
  try {
    const moved = await move();
    const report = await audit.stop();
    if (report.lost.length + report.wentBack.length > 0) throw new Error(`lost: ${report.lost.join(', ')}`);
    return { ...moved, report };
  } finally {
    await audit.stop();
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

const describeTrip = (name: string, { ms, slots, report }: Trip): readonly [string, string] => [
  LABELS[name] ?? name,
  `${round(ms / 1000, 2)} s for ${slots} slots; of ${report.writes} writes p99 ${report.p99Ms} ms, longest gap ${report.longestGapMs} ms, errors ${JSON.stringify(report.errors)}`,
];

const LABELS: Readonly<Record<string, string>> = {
  ours: 'Keelson, atomic',
  bare: 'MIGRATESLOTS by hand',
  cli: 'valkey-cli rebalance',
  keysOurs: 'Keelson, key by key (8.1.8)',
  keysCli: 'valkey-cli rebalance (8.1.8)',
};
