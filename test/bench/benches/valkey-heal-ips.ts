import type { StackHandle } from '../../../deploy/local/testing.ts';
import type { EntityStatus } from '../../../workflows/shared/messages.ts';
import { DEFAULT_SPEC } from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';
import { startStackFor, type Afterwards } from '../../clean-end.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { tellServers } from '../../valkey/server-view.ts';
import type { Bench } from '../bench.ts';
import { applyByHand, awaitAddresses, awaitWhole, cliCluster } from '../fixtures/valkey-by-hand.ts';

const MASTERS = 3;
const REPLICAS = 1;
const NODES = MASTERS * (1 + REPLICAS);

const SPEC = {
  masters: MASTERS,
  replicasPerMaster: REPLICAS,
  auth: { secretRef: { name: 'cache-auth', key: 'password' } },
  persistence: { ...DEFAULT_SPEC.persistence, size: '64Mi' },
};

/** All pods come back at other addresses; the nodes find each other again. */
export const valkeyHealIps: Bench = {
  name: 'valkey-heal-ips',
  about:
    'From the deletion of all 6 pods of a cluster at once until every node, at its new address, says `cluster_state:ok` and every replica is linked, over the same deletion of the same pods with `CLUSTER MEET` by hand as soon as they are Ready.',
  goal: 1.3,
  // A node that was alone refuses clients for five seconds more, on either side and at random: few rounds would measure luck.
  rounds: 15,
  async prepare(afterwards, interrupted) {
    const stack = await startStackFor(afterwards, { signal: interrupted });
    const [ours, floor] = [await openWorld(stack, afterwards), await openWorld(stack, afterwards)];
    await ours.apply(SPEC);
    const addresses = await applyByHand(floor, SPEC);
    await cliCluster(floor, 'create', ...addresses, '--cluster-replicas', String(REPLICAS), '--cluster-yes');
    await ours.awaitPhase('Running');
    await awaitWhole(floor, MASTERS, REPLICAS);
    return {
      async ours() {
        await awaitRest(ours);
        return measure(ours, async () => {});
      },
      floor: () => measure(floor, meetByHand),
    };
  },
};

async function openWorld(stack: StackHandle, afterwards: Afterwards): Promise<ClusterWorld> {
  const world = await ClusterWorld.create(stack);
  afterwards.defer(() => world.remove());
  await world.createSecret();
  return world;
}

/** Waits until the entity has told of the last round's repair: a loss in the middle of that is another matter. */
async function awaitRest(world: ClusterWorld): Promise<void> {
  const { workflow } = await world.temporal();
  await world.until(async () => {
    const { waiting } = await workflow.getHandle(world.entityId).query<EntityStatus>('status');
    return waiting?.on === 'drift'
      ? { found: true }
      : { missing: `the entity to rest, not ${JSON.stringify(waiting)}` };
  });
}

async function measure(world: ClusterWorld, help: (world: ClusterWorld) => Promise<void>): Promise<number> {
  // Whoever was elected in the last round may still be synchronising.
  await awaitWhole(world, MASTERS, REPLICAS);
  const old = await deleteAll(world);
  const startedMs = performance.now();
  await world.until(async () => {
    const left = (await world.list('pods')).filter((pod) => old.has(pod.metadata.uid ?? ''));
    return left.length === 0 ? { found: true } : { missing: `${left.length} pods to go` };
  });
  await help(world);
  await awaitWhole(world, MASTERS, REPLICAS);
  return performance.now() - startedMs;
}

/** Ends all pods as the loss of their machines would; answers who they were. */
async function deleteAll(world: ClusterWorld): Promise<ReadonlySet<string>> {
  const pods = await world.list('pods');
  await Promise.all(
    pods.map((pod) =>
      world.api.send('DELETE', `/api/v1/namespaces/${world.namespace}/pods/${pod.metadata.name}`, {
        gracePeriodSeconds: 0,
      }),
    ),
  );
  return new Set(pods.map((pod) => pod.metadata.uid ?? ''));
}

async function meetByHand(world: ClusterWorld): Promise<void> {
  const addresses = await awaitAddresses(world, NODES);
  await tellServers(world, async (client) => {
    for (const address of addresses)
      await client.cluster('MEET', ...(address.split(':') as [string, string]));
  });
}
