import { describe, expect, it } from 'vitest';
import { askUpgradePlan, planUpgradeOffline } from '../../../starter/cli/commands/upgrade-plan.ts';
import { planUpgrade } from '../../../workflows/valkey-upgrade/domain/plan.ts';
import { worldOn } from './shards-on-versions.ts';

const manifest = (spec: object): object => ({
  apiVersion: 'valkey-operator.smoketurner.com/v1alpha1',
  kind: 'ValkeyUpgrade',
  metadata: { name: 'to-9.1.2' },
  spec: { clusterRef: { name: 'cache' }, targetVersion: '9.1.2', ...spec },
});
const observed = { nodes: worldOn('9.0.0', 1).nodes };
const plan = (spec: object = {}, seen: unknown = observed) =>
  planUpgradeOffline({ resource: manifest(spec), observed: seen, intent: undefined });

describe('the plan of an upgrade from files alone', () => {
  it('is the plan of the cluster that it names', () => {
    const wish = {
      from: '9.0.0',
      to: '9.1.2',
      masters: 3,
      replicasPerMaster: 1,
      strategy: 'InPlace',
      maxUnavailableShards: 2,
    } as const;
    const envelope = plan({ strategy: 'InPlace', maxUnavailableShards: 2 });
    expect(envelope).toMatchObject({ lifecycle: 'valkey-cluster', resource: 'default/cache', blocked: [] });
    expect(envelope.steps).toEqual(planUpgrade(observed, wish).steps);
  });

  it('adds a replica where a shard would otherwise be left with one copy', () => {
    expect(plan().steps[0]).toMatchObject({ kind: 'CreateShard', shard: 0, pods: 3 });
    expect(plan({}, { nodes: worldOn('9.0.0', 2).nodes }).steps[0]).toMatchObject({ pods: 3 });
  });

  it('goes on from a half of it', () => {
    const half = observed.nodes.map((node) => (node.shard === 0 ? { ...node, version: '9.1.2' } : node));
    const shards = plan({ strategy: 'InPlace' }, { nodes: half }).steps.flatMap((step) =>
      'shard' in step ? step.shard : [],
    );
    expect([...new Set(shards)]).toEqual([1, 2]);
  });

  it.each([
    ['a version that is none', { targetVersion: 'newest' }, observed, /is no version/],
    ['an older version', { targetVersion: '8.1.8' }, observed, /allowDowngrade/],
    ['no replica in place', { strategy: 'InPlace' }, { nodes: worldOn('9.0.0', 0).nodes }, /strategy Surge/],
    ['a field that there is not', { strateggy: 'Surge' }, observed, /spec: Unrecognized key/],
    ['a strategy that there is not', { strategy: 'Sideways' }, observed, /spec\.strategy/],
    ['no shard at a time', { maxUnavailableShards: 0 }, observed, /from 1 to 100 shards/],
    ['a cluster that is empty', {}, { nodes: [] }, /no node is a master/],
    [
      'nodes without a version',
      {},
      { nodes: observed.nodes.map((node) => ({ ...node, version: undefined })) },
      /not every node has a version/,
    ],
  ] as const)('is refused in words: %s', (_, spec, seen, words) => {
    expect(() => plan(spec, seen)).toThrow(words);
  });
});

describe('the plan of an upgrade from the live cluster', () => {
  it('is asked of the cluster that it names', () => {
    const { of, asked } = askUpgradePlan(manifest({ bakeSeconds: 5 }));
    expect(of).toBe('cache');
    expect(asked).toEqual({
      upgrade: {
        name: 'to-9.1.2',
        spec: { clusterRef: { name: 'cache' }, targetVersion: '9.1.2', bakeSeconds: 5 },
      },
    });
  });

  it('is not asked for what the API server would refuse', () => {
    expect(() => askUpgradePlan(manifest({ bakeSeconds: -1 }))).toThrow(/bakeSeconds/);
  });
});
