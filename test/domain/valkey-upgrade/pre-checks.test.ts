import { describe, expect, it } from 'vitest';
import { judgePlan } from '../../../workflows/shared/guards.ts';
import type { ValkeyNode, ValkeyObservation } from '../../../workflows/valkey-cluster/domain/observation.ts';
import { planUpgrade } from '../../../workflows/valkey-upgrade/domain/plan.ts';
import { PRE_CHECKS } from '../../../workflows/valkey-upgrade/domain/pre-checks.ts';
import { worldOn } from '../../plans/valkey-upgrade/shards-on-versions.ts';
import { sampleCluster } from '../valkey-cluster/sample-cluster.ts';

const MIB = 2 ** 20;
const world = worldOn('9.0.0', 1);
const whole: ValkeyObservation = {
  ...world,
  nodes: world.nodes.map((node) => ({ ...node, usedMemory: 10 * MIB, maxMemory: 768 * MIB })),
  cluster: { ...sampleCluster(), phase: 'Running', observedGeneration: 1 },
  orphans: [],
  health: { ok: true, slotsAssigned: 16384, viewsAgree: true, answered: 6, unreachable: [] },
  missing: [],
  owned: {},
  upgrades: [],
};

const plan = planUpgrade(whole, {
  from: '9.0.0',
  to: '9.1.2',
  masters: 3,
  replicasPerMaster: 1,
  strategy: 'InPlace',
  maxUnavailableShards: 1,
});

const blocks = (observed: ValkeyObservation): readonly string[] =>
  judgePlan(PRE_CHECKS, observed, plan).blocked.map(({ guard }) => guard);

const changed = (pod: string, change: Partial<ValkeyNode>): ValkeyObservation => ({
  ...whole,
  nodes: whole.nodes.map((node) => (node.pod === pod ? { ...node, ...change } : node)),
});

describe('before an upgrade begins', () => {
  it('nothing stands in the way of a whole cluster', () => {
    expect(judgePlan(PRE_CHECKS, whole, plan)).toEqual({ blocked: [], unknown: [] });
  });

  it.each<readonly [string, string, ValkeyObservation]>([
    [
      'ClusterRunning',
      'a cluster that is Degraded',
      { ...whole, cluster: { ...whole.cluster, phase: 'Degraded' } },
    ],
    ['ClusterOk', 'a slot that nobody serves', changed('cache-0-0', { slots: [[1, 5460]] })],
    ['ClusterOk', 'a node that says fail', { ...whole, health: { ...whole.health, ok: false } }],
    ['ClusterOk', 'nodes that disagree', { ...whole, health: { ...whole.health, viewsAgree: false } }],
    ['ReplicasInSync', 'a replica without a link', changed('cache-1-1', { linkUp: false })],
    [
      'NothingMoves',
      'a slot on its way',
      changed('cache-2-0', { openSlots: [{ slot: 1, direction: 'migrating', peer: 'x' }] }),
    ],
    ['RoomForSync', 'a master that is full', changed('cache-2-0', { usedMemory: 700 * MIB })],
  ])('%s refuses %s', (guard, _, observed) => {
    expect(blocks(observed)).toEqual([guard]);
  });

  it('what can not be judged blocks nothing', () => {
    const { usedMemory: _, ...node } = whole.nodes[0] as ValkeyNode;
    const unsure = { ...whole, nodes: [node, ...whole.nodes.slice(1)] };
    expect(judgePlan(PRE_CHECKS, unsure, plan)).toMatchObject({
      blocked: [],
      unknown: [{ guard: 'RoomForSync' }],
    });
  });

  it('one that is under way is not asked again', () => {
    const status = {
      phase: 'InProgress' as const,
      observedGeneration: 1,
      fromTag: '9.0.0',
      startedAt: null,
      completedAt: null,
      errorMessage: null,
      shardStatuses: [],
    };
    const upgrade = {
      namespace: 'default',
      name: 'a',
      uid: 'uid-a',
      generation: 1,
      createdAt: '',
      deleting: false,
      spec: {
        clusterRef: { name: 'cache' },
        targetVersion: '9.1.2',
        replicationSyncTimeoutSeconds: 300,
        podReadyTimeoutSeconds: 600,
        stabilitySeconds: 3,
        approval: 'None' as const,
        bakeSeconds: 0,
        rollbackOnFailure: true,
        maxUnavailableShards: 1,
      },
      status,
    };
    expect(blocks({ ...changed('cache-1-1', { linkUp: false }), upgrades: [upgrade] })).toEqual([]);
  });
});
