import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { StackHandle } from '../../../deploy/local/testing.ts';
import { buildSharedObjects, buildShardSet } from '../../../workflows/valkey-cluster/domain/manifests.ts';
import { CLIENT_PORT } from '../../../workflows/valkey-cluster/domain/names.ts';
import type { ValkeyClusterResource } from '../../../workflows/valkey-cluster/domain/observation.ts';
import { DEFAULT_SPEC } from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';
import { startStackFor } from '../../clean-end.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { ipOf, isReady, wrongWith } from '../../valkey/server-view.ts';
import type { Bench } from '../bench.ts';
import { median, round, type Pair } from '../figures.ts';

const MASTERS = 3;
const REPLICAS = 1;
const run = promisify(execFile);

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
  await awaitWhole(world);
  const client = await world.temporal();
  const status = await client.workflow
    .getHandle(world.entityId)
    .query<{ readonly last: { readonly stepSeconds: Record<string, number> } | null }>('status');
  steps.push(status.last?.stepSeconds ?? {});
}

async function byHand(world: ClusterWorld): Promise<void> {
  const cluster: ValkeyClusterResource = {
    ...world.ref,
    uid: 'by-hand',
    generation: 1,
    deleting: false,
    finalizers: [],
    annotations: {},
    spec: { ...DEFAULT_SPEC, ...SPEC },
    phase: null,
    observedGeneration: 0,
  };
  const shards = Array.from({ length: MASTERS }, (_, shard) => buildShardSet(cluster, shard));
  await Promise.all([...buildSharedObjects(cluster), ...shards].map((object) => applyObject(world, object)));
  const addresses = await world.until(async () => {
    const pods = (await world.list('pods')).filter(isReady);
    const missing = `${MASTERS * (1 + REPLICAS)} Ready pods, there are ${pods.length}`;
    return pods.length === MASTERS * (1 + REPLICAS)
      ? { found: pods.map((pod) => `${ipOf(pod)}:${CLIENT_PORT}`) }
      : { missing };
  });
  const args = [
    '--no-auth-warning',
    '--cluster',
    'create',
    ...addresses,
    '--cluster-replicas',
    String(REPLICAS),
    '--cluster-yes',
  ];
  await run(valkeyCli(world.stack), args, {
    env: { ...process.env, REDISCLI_AUTH: world.password, VALKEYCLI_AUTH: world.password },
  });
  await awaitWhole(world);
}

const PLURALS: Readonly<Record<string, string>> = {
  StatefulSet: 'apis/apps/v1/namespaces/NS/statefulsets',
  ConfigMap: 'api/v1/namespaces/NS/configmaps',
  Service: 'api/v1/namespaces/NS/services',
  PodDisruptionBudget: 'apis/policy/v1/namespaces/NS/poddisruptionbudgets',
};

async function applyObject(world: ClusterWorld, object: { readonly kind: string }): Promise<void> {
  const path = PLURALS[object.kind]?.replace('NS', world.namespace);
  if (path === undefined) throw new Error(`no path for a ${object.kind}`);
  await world.api.send('POST', `/${path}`, object);
}

async function awaitWhole(world: ClusterWorld): Promise<void> {
  await world.until(async () => {
    const wrong = await wrongWith(world, MASTERS, REPLICAS);
    return wrong === null ? { found: true } : { missing: wrong };
  });
}

function valkeyCli(stack: StackHandle): string {
  const images = JSON.parse(readFileSync(join(stack.home, 'config', 'images.json'), 'utf8')) as Record<
    string,
    { programs?: string }
  >;
  return join(images['valkey/valkey:9.1.2']?.programs ?? '', 'valkey-cli');
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
