import { describe, expect, it } from 'vitest';
import { renderPlan } from '../../../starter/cli/render/plan-text.ts';
import { envelope } from '../../../workflows/shared/plan.ts';
import {
  planRollback,
  planUpgrade,
  type UpgradeWish,
} from '../../../workflows/valkey-upgrade/domain/plan.ts';
import type { ValkeyOrphan } from '../../../workflows/valkey-cluster/domain/observation.ts';
import type { ValkeyTopology } from '../../../workflows/valkey-cluster/domain/topology.ts';
import { perform } from '../valkey-cluster/simulated-cluster.ts';
import { worldOn, withTag, type World } from './shards-on-versions.ts';

const wish = (replicasPerMaster: number, change: Partial<UpgradeWish> = {}): UpgradeWish => ({
  from: '9.0.0',
  to: '9.1.2',
  masters: 3,
  replicasPerMaster,
  strategy: 'InPlace',
  maxUnavailableShards: 1,
  ...change,
});

const OLD = { from: '8.1.8' } as const;

const handedOver = (world: World, shard: number, from: string, to: string): World => ({
  ...world,
  nodes: perform(world.nodes, {
    id: '1',
    group: 1,
    irreversible: false,
    reason: '',
    kind: 'HandOver',
    shard,
    from,
    to,
  }),
});

const unready = (world: World, pod: string, waiting = 'ErrImagePull: no such image'): World => ({
  ...world,
  nodes: world.nodes.filter((node) => node.pod !== pod),
  pods: world.pods.map((one) =>
    one.name === pod ? { ...one, phase: 'Pending', ready: false, waiting, nodeId: null } : one,
  ),
});

const shardDone = (world: World, tag: string, shard: number): World =>
  withTag(
    world,
    tag,
    shard,
    world.pods.filter((pod) => pod.shard === shard).map((pod) => pod.name),
  );

/** Shard 0 is done; in shard 1 the replica is upgraded and leads, and the old master is still to come. */
const half = (from: string): World =>
  handedOver(
    withTag(shardDone(worldOn(from, 1), '9.1.2', 0), '9.1.2', 1, ['cache-1-1']),
    1,
    'cache-1-0',
    'cache-1-1',
  );

const lostMember = (id: string): ValkeyOrphan => ({
  id,
  address: '',
  role: 'replica',
  slots: [],
  failed: true,
});

const STORIES: Readonly<Record<string, readonly [ValkeyTopology, UpgradeWish]>> = {
  '3 masters with a replica each, in place': [worldOn('9.0.0', 1), wish(1)],
  '3 masters with a replica each, with a surge': [worldOn('9.0.0', 1), wish(1, { strategy: 'Surge' })],
  '3 masters with 2 replicas each, in place': [worldOn('9.0.0', 2), wish(2)],
  '3 masters without a replica, with a surge': [worldOn('9.0.0', 0), wish(0, { strategy: 'Surge' })],
  '2 shards at a time': [worldOn('9.0.0', 1), wish(1, { maxUnavailableShards: 2 })],
  'one shard done already': [shardDone(worldOn('9.0.0', 1), '9.1.2', 1), wish(1)],
  'go on after half of it': [half('9.0.0'), wish(1)],
  'all shards done already': [worldOn('9.1.2', 1), wish(1)],
  'go on where pods came back as other members': [
    { ...half('9.0.0'), orphans: [lostMember('lost-b'), lostMember('lost-a')] },
    wish(1),
  ],
  'nothing is forgotten while a pod may be it': [
    { ...unready(worldOn('9.1.2', 1), 'cache-2-1', 'ContainerCreating'), orphans: [lostMember('lost-a')] },
    wish(1),
  ],
  'from 8 to 9 with a point of no return': [worldOn('8.1.8', 1), wish(1, OLD)],
};

const WAYS_BACK: Readonly<Record<string, readonly [World, UpgradeWish]>> = {
  'back from an image that does not exist': [
    unready(withTag(worldOn('9.0.0', 1), '9.9.9', 0, ['cache-0-1']), 'cache-0-1'),
    wish(1, { to: '9.9.9' }),
  ],
  'back from an older version whose server crashes': [
    unready(
      withTag(worldOn('9.1.2', 1), '8.1.8', 0, ['cache-0-1']),
      'cache-0-1',
      'CrashLoopBackOff: it ended',
    ),
    wish(1, { from: '9.1.2', to: '8.1.8' }),
  ],
  'back after half of it': [half('9.0.0'), wish(1)],
  'back from 9 to 8 while a node of 8 is left': [
    handedOver(withTag(worldOn('8.1.8', 1), '9.1.2', 0, ['cache-0-1']), 0, 'cache-0-0', 'cache-0-1'),
    wish(1, OLD),
  ],
};

const textOf = (plan: ReturnType<typeof planUpgrade>): string =>
  renderPlan(envelope('valkey-cluster', 'default/cache', plan, { blocked: [], unknown: [] }));

describe('the plan of an upgrade reads as prose', () => {
  it.each(Object.entries(STORIES))('%s', async (name, [world, of]) => {
    const file = `testdata/${name.replaceAll(',', '').replaceAll(' ', '-')}.txt`;
    await expect(textOf(planUpgrade(world, of))).toMatchFileSnapshot(file);
  });

  it.each(Object.entries(WAYS_BACK))('%s', async (name, [world, of]) => {
    const file = `testdata/${name.replaceAll(' ', '-')}.txt`;
    await expect(textOf(planRollback(world, of))).toMatchFileSnapshot(file);
  });
});
