import type { StackHandle } from '../../../deploy/local/testing.ts';
import { DEFAULT_SPEC } from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';
import { startStackFor } from '../../clean-end.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import type { Bench } from '../bench.ts';
import { median, round, type Pair } from '../figures.ts';
import { applyByHand, awaitWhole, cliCluster } from '../fixtures/valkey-by-hand.ts';

const MASTERS = 3;
const REPLICAS = 1;

/** From `kubectl apply` to a whole cluster, over the same pods and `valkey-cli --cluster create` by hand. */
export const createCluster: Bench = {
  name: 'create-cluster',
  about:
    'From an applied ValkeyCluster of 3 masters and 3 replicas to a whole cluster, over applying the same StatefulSets, waiting for Ready pods and `valkey-cli --cluster create`. Both end when every node sees all slots and every replica is linked.',
  goal: 1.2,
  rounds: 5,
  async prepare(afterwards, interrupted) {
    const stack = await startStackFor(afterwards, { signal: interrupted });
    const steps: Record<string, number>[] = [];
    return {
      ours: () => measure(stack, (world) => byKeelson(world, steps)),
      floor: () => measure(stack, byHand),
      beside: (pairs) => Promise.resolve(describeSteps(pairs, steps)),
    };
  },
};

async function measure(stack: StackHandle, form: (world: ClusterWorld) => Promise<void>): Promise<number> {
  const world = await ClusterWorld.create(stack);
  try {
    await world.createSecret();
    const startedAtMs = performance.now();
    await form(world);
    return performance.now() - startedAtMs;
  } finally {
    await world.remove();
  }
}

const SPEC = {
  masters: MASTERS,
  replicasPerMaster: REPLICAS,
  auth: { secretRef: { name: 'cache-auth', key: 'password' } },
  persistence: { ...DEFAULT_SPEC.persistence, size: '64Mi' },
};

async function byKeelson(world: ClusterWorld, steps: Record<string, number>[]): Promise<void> {
  await world.apply(SPEC);
  await world.awaitPhase('Running');
  await awaitWhole(world, MASTERS, REPLICAS);
  const client = await world.temporal();
  const status = await client.workflow
    .getHandle(world.entityId)
    .query<{ readonly last: { readonly stepSeconds: Record<string, number> } | null }>('status');
  steps.push(status.last?.stepSeconds ?? {});
}

async function byHand(world: ClusterWorld): Promise<void> {
  const addresses = await applyByHand(world, SPEC);
  await cliCluster(world, 'create', ...addresses, '--cluster-replicas', String(REPLICAS), '--cluster-yes');
  await awaitWhole(world, MASTERS, REPLICAS);
}

function describeSteps(
  _: readonly Pair[],
  steps: readonly Record<string, number>[],
): readonly (readonly [string, string])[] {
  const kinds = Object.keys(steps[0] ?? {});
  return kinds.map((kind) => [
    `${kind}, median`,
    `${round(median(steps.map((one) => one[kind] ?? 0)), 2)} s`,
  ]);
}
