import { describe, expect, it } from 'vitest';
import { renderPlan } from '../../../starter/cli/render/plan-text.ts';
import { judgePlan } from '../../../workflows/shared/guards.ts';
import { envelope } from '../../../workflows/shared/plan.ts';
import { GUARDS } from '../../../workflows/valkey-cluster/domain/guards.ts';
import type {
  SlotRange,
  ValkeyOrphan,
  ValkeyPod,
  ValkeySecrets,
  ValkeyShardSet,
} from '../../../workflows/valkey-cluster/domain/observation.ts';
import {
  planValkeyCluster,
  type PlanOptions,
  type ValkeyWish,
} from '../../../workflows/valkey-cluster/domain/plan.ts';
import type { ValkeyTopology } from '../../../workflows/valkey-cluster/domain/topology.ts';
import { sampleCluster } from '../../domain/valkey-cluster/sample-cluster.ts';
import { clusterNodes, freshNode } from './simulated-cluster.ts';

const THREE = [5461, 5461, 5462];
const MIB = 2 ** 20;

interface Story {
  readonly topology: ValkeyTopology;
  readonly wish: ValkeyWish;
  readonly options?: PlanOptions;
}

const wish = (masters: number, replicasPerMaster: number): ValkeyWish => ({ masters, replicasPerMaster });

const heavy = (usedMiB: number): ValkeyTopology => ({
  nodes: clusterNodes([4096, 4096, 4096, 4096], 0).map((node) => ({
    ...node,
    keys: 40_960,
    usedMemory: usedMiB * MIB,
    maxMemory: 768 * MIB,
    version: '9.1.2',
  })),
});

const podOf = (name: string, shard: number, templateHash: string): ValkeyPod => ({
  name,
  uid: `uid-of-${name}`,
  shard,
  ip: '127.0.0.1',
  node: 'node-1',
  zone: 'zone-1',
  phase: 'Running',
  ready: true,
  terminating: false,
  image: 'valkey/valkey:9.1.2',
  templateHash,
  waiting: null,
  nodeId: null,
});

const healthy = clusterNodes(THREE, 1);

const setsOf = (appliedHash: string): readonly ValkeyShardSet[] =>
  [0, 1, 2].map((shard) => ({
    shard,
    name: `cache-${shard}`,
    uid: `uid-${shard}`,
    replicas: 2,
    image: 'valkey/valkey:9.1.2',
    appliedHash,
  }));

const settledSecrets: ValkeySecrets = {
  kept: true,
  lacking: [],
  older: 0,
  keptSeconds: 3_600,
  aclChanged: false,
};

const lostMaster = (id: string, slots: SlotRange): ValkeyOrphan => ({
  id,
  address: '10.0.0.9:6379',
  role: 'master',
  slots: [slots],
  failed: false,
  unreachable: true,
});

const STORIES: Readonly<Record<string, Story>> = {
  'create 3 masters with a replica each': { topology: { nodes: [] }, wish: wish(3, 1) },
  'go on with a creation that ended after two assignments': {
    topology: { nodes: clusterNodes([5461, 5461, 0], 0) },
    wish: wish(3, 1),
    options: { formed: false },
  },
  'scale up from 3 to 4 masters': { topology: { nodes: healthy }, wish: wish(4, 1) },
  'scale down from 6 to 3 masters': {
    topology: { nodes: clusterNodes([2730, 2731, 2731, 2730, 2731, 2731], 1) },
    wish: wish(3, 1),
  },
  'add a second replica': { topology: { nodes: healthy }, wish: wish(3, 2) },
  'remove a replica whose pod is the master': {
    topology: { nodes: clusterNodes(THREE, 1, 1) },
    wish: wish(3, 0),
  },
  'masters up and replicas down together': {
    topology: { nodes: clusterNodes(THREE, 2) },
    wish: wish(4, 1),
  },
  'masters down and replicas up together': {
    topology: { nodes: clusterNodes([4096, 4096, 4096, 4096], 0) },
    wish: wish(3, 1),
  },
  'heal a lost replica and one that started anew': {
    topology: {
      nodes: healthy
        .filter((node) => node.pod !== 'cache-0-1')
        .map((node) => (node.pod === 'cache-2-1' ? freshNode(2, 1) : node)),
      orphans: [{ id: 'old-2-1', address: '10.0.0.9:6379', role: 'replica', slots: [], failed: true }],
    },
    wish: wish(3, 1),
  },
  'find everybody again after all addresses changed': {
    topology: {
      nodes: healthy,
      health: { ok: false, slotsAssigned: 16384, viewsAgree: false, answered: 6, unreachable: [] },
    },
    wish: wish(3, 1),
  },
  'level an uneven cluster on demand': {
    topology: { nodes: clusterNodes([8000, 4384, 4000], 1) },
    wish: wish(3, 1),
    options: { rebalance: true },
  },
  'restart after a change of resources': {
    topology: {
      nodes: healthy,
      pods: healthy.map((node) => podOf(node.pod, node.shard, node.shard === 1 ? 'new' : 'old')),
    },
    wish: { ...wish(3, 1), templateHash: 'new' },
  },
  'replace pods that an older spec keeps from starting': {
    topology: {
      nodes: healthy.filter((node) => node.pod !== 'cache-1-1'),
      shards: setsOf('old'),
      pods: healthy.map((node) => ({
        ...podOf(node.pod, node.shard, node.pod === 'cache-1-1' ? 'old' : 'new'),
        ...(node.pod === 'cache-1-1'
          ? { phase: 'Pending', ready: false, waiting: 'ErrImagePull: there is no such image' }
          : {}),
      })),
    },
    wish: { ...wish(3, 1), templateHash: 'new', appliedHash: 'old' },
  },
  'apply a changed spec that needs no restart': {
    topology: { nodes: healthy, shards: setsOf('old') },
    wish: { ...wish(3, 1), appliedHash: 'new' },
  },
  'wait for the election of a lost master and change nothing else': {
    topology: {
      nodes: healthy.filter((node) => node.pod !== 'cache-0-0'),
      orphans: [{ id: 'id-0-0', address: '10.0.0.9:6379', role: 'master', slots: [[0, 5460]], failed: true }],
    },
    wish: wish(5, 1),
  },
  'take shards over without a vote when no majority is left': {
    topology: {
      nodes: healthy.filter((node) => node.pod !== 'cache-0-0' && node.pod !== 'cache-1-0'),
      orphans: [lostMaster('id-0-0', [0, 5460]), lostMaster('id-1-0', [5461, 10921])],
      health: { ok: false, slotsAssigned: 16384, viewsAgree: true, answered: 4, unreachable: [], apart: [] },
    },
    wish: wish(3, 1),
  },
  'leave the election to Valkey while a majority is left': {
    topology: {
      nodes: healthy.filter((node) => node.pod !== 'cache-0-0'),
      orphans: [lostMaster('id-0-0', [0, 5460])],
      health: { ok: true, slotsAssigned: 16384, viewsAgree: true, answered: 5, unreachable: [], apart: [] },
    },
    wish: wish(3, 1),
  },
  'remove a pod by force from a machine that is lost': {
    topology: {
      nodes: healthy.map((node) => ({ ...node, ready: node.pod !== 'cache-1-1' })),
      pods: healthy.map((node) => ({
        ...podOf(node.pod, node.shard, 'new'),
        ...(node.pod === 'cache-1-1'
          ? { ready: false, terminating: true, stuck: { node: 'node-1', why: 'lost' } as const }
          : {}),
      })),
    },
    wish: wish(3, 1),
  },
  'move a slot to its end that was left half moved': {
    topology: {
      nodes: healthy.map((node) => {
        const open = { 'cache-0-0': ['migrating', 'id-1-0'], 'cache-1-0': ['importing', 'id-0-0'] } as const;
        const [direction, peer] = open[node.pod as keyof typeof open] ?? [];
        return direction === undefined ? node : { ...node, openSlots: [{ slot: 42, direction, peer }] };
      }),
    },
    wish: wish(3, 1),
    options: { closeSlots: true },
  },
  'take a changed password and changed users': {
    topology: {
      nodes: healthy,
      secrets: { ...settledSecrets, kept: false, lacking: healthy.map(({ pod }) => pod), aclChanged: true },
    },
    wish: wish(4, 1),
  },
  'leave the old password valid for a while': {
    topology: { nodes: healthy, secrets: { ...settledSecrets, older: 1, keptSeconds: 30 } },
    wish: wish(3, 1),
  },
  'refuse the old password at last': {
    topology: { nodes: healthy, secrets: { ...settledSecrets, older: 1, keptSeconds: 120 } },
    wish: wish(3, 1),
  },
  'refuse a scale down that does not fit into memory': { topology: heavy(600), wish: wish(3, 0) },
  'delete a cluster': { topology: { nodes: healthy }, wish: { ...wish(3, 1), deleting: true } },
  'nothing to do': { topology: { nodes: healthy }, wish: wish(3, 1) },
};

describe('a plan reads as prose', () => {
  it.each(Object.entries(STORIES))('%s', async (name, { topology, wish, options }) => {
    const plan = planValkeyCluster(topology, wish, options);
    const cluster = sampleCluster({ masters: wish.masters, replicasPerMaster: wish.replicasPerMaster });
    const judged = judgePlan(GUARDS, { ...topology, cluster }, plan);
    const text = renderPlan(envelope('valkey-cluster', 'default/cache', plan, judged));
    await expect(text).toMatchFileSnapshot(`testdata/${name.replaceAll(' ', '-')}.txt`);
  });
});
