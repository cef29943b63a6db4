import { describe, expect, it } from 'vitest';
import type { ValkeyClusterSpec } from '../../../workflows/valkey-cluster/domain/observation.ts';
import {
  failedAttempt,
  holdVersion,
  judgeUpgrades,
  type UpgradeFacts,
} from '../../../workflows/valkey-upgrade/domain/judgement.ts';
import type { UpgradePhase } from '../../../workflows/valkey-upgrade/domain/phases.ts';
import {
  DEFAULT_UPGRADE,
  isVersionOf,
  readsDataOf,
  strategyOf,
  tagFor,
  tagOf,
  type ValkeyUpgradeResource,
  type ValkeyUpgradeSpec,
} from '../../../workflows/valkey-upgrade/domain/resource.ts';
import { worldOn } from '../../plans/valkey-upgrade/shards-on-versions.ts';
import { sampleCluster } from '../valkey-cluster/sample-cluster.ts';

const image = (tag: string, allowDowngrade = false): ValkeyClusterSpec['image'] => ({
  repository: 'valkey/valkey',
  tag,
  pullPolicy: 'IfNotPresent',
  pullSecrets: [],
  allowDowngrade,
});

const upgrade = (
  name: string,
  phase: UpgradePhase | null,
  spec: Partial<ValkeyUpgradeSpec> = {},
  minute = 0,
): ValkeyUpgradeResource => ({
  namespace: 'default',
  name,
  uid: `uid-${name}`,
  generation: 1,
  createdAt: `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`,
  deleting: false,
  spec: { ...DEFAULT_UPGRADE, clusterRef: { name: 'cache' }, targetVersion: '9.1.2', ...spec },
  status:
    phase === null
      ? null
      : {
          phase,
          observedGeneration: 1,
          fromTag: '9.0.0',
          startedAt: '2026-01-01T00:00:10Z',
          completedAt: null,
          errorMessage: null,
          shardStatuses: [],
        },
});

const ending = (name: string, completedAt: string): ValkeyUpgradeResource => {
  const { status, ...rest } = upgrade(name, 'Completed');
  return { ...rest, status: status === null ? null : { ...status, completedAt } };
};

const facts = (
  upgrades: readonly ValkeyUpgradeResource[],
  change: Partial<ValkeyClusterSpec> = {},
): UpgradeFacts => ({
  cluster: { ...sampleCluster({ image: image('9.0.0'), ...change }), observedGeneration: 1 },
  shards: worldOn('9.0.0', 1).shards,
  upgrades,
});

describe('of several upgrades', () => {
  it('the oldest is next, and the others are refused by its name', () => {
    const { active, refused } = judgeUpgrades(facts([upgrade('a', null), upgrade('b', null, {}, 1)]));
    expect(active?.name).toBe('a');
    expect(refused.map((one) => [one.upgrade.name, one.reason])).toEqual([['b', 'UpgradeInProgress']]);
  });

  it('the one under way goes on, whatever is older', () => {
    expect(judgeUpgrades(facts([upgrade('a', null), upgrade('b', 'InProgress', {}, 1)])).active?.name).toBe(
      'b',
    );
  });

  it.each(['Completed', 'Failed', 'RolledBack'] as const)('one that is %s holds nobody up', (phase) => {
    expect(judgeUpgrades(facts([upgrade('a', phase), upgrade('b', null, {}, 1)])).active?.name).toBe('b');
  });

  it('one that was created while another was under way stays refused when that has ended', () => {
    const ended = ending('a', '2026-01-01T00:05:00Z');
    expect(judgeUpgrades(facts([ended, upgrade('b', null, {}, 2)])).refused[0]?.message).toMatch(/upgrade a/);
    expect(judgeUpgrades(facts([ended, upgrade('b', null, {}, 6)])).active?.name).toBe('b');
  });

  it('a failed one that was changed since is tried again', () => {
    const changed = { ...upgrade('a', 'Failed'), generation: 2 };
    expect(judgeUpgrades(facts([changed])).active?.name).toBe('a');
  });
});

describe('an upgrade is refused', () => {
  it.each([
    ['to a version that is none', { targetVersion: 'newest' }, {}, 'NoVersion'],
    ['to an older version', { targetVersion: '8.1.8' }, {}, 'DowngradeBlocked'],
    ['in place without a replica', { strategy: 'InPlace' }, { replicasPerMaster: 0 }, 'NoReplica'],
    [
      'for a cluster elsewhere',
      { clusterRef: { name: 'cache', namespace: 'other' } },
      {},
      'ClusterElsewhere',
    ],
  ] as const)('%s', (_, spec, cluster, reason) => {
    expect(judgeUpgrades(facts([upgrade('a', null, spec)], cluster))).toMatchObject({
      active: null,
      refused: [{ reason }],
    });
  });

  it('to a version that is older than what a shard serves with, whatever the others run', () => {
    const nodes = worldOn('9.0.0', 1).nodes.map((node) =>
      node.shard === 1 ? { ...node, version: '9.1.2' } : node,
    );
    const mixed = facts([upgrade('a', null, { targetVersion: '9.0.0' })]);
    const shards = mixed.shards.map((set, at) => (at === 1 ? { ...set, image: 'valkey/valkey:9.1.2' } : set));
    expect(judgeUpgrades({ ...mixed, shards, nodes })).toMatchObject({
      active: null,
      refused: [{ reason: 'DowngradeBlocked', message: expect.stringMatching(/older than 9\.1\.2/) }],
    });
    expect(judgeUpgrades({ ...facts([upgrade('b', null)]), shards, nodes }).active?.name).toBe('b');
  });

  it('not to an older version where the cluster allows it', () => {
    const allowing = facts([upgrade('a', null, { targetVersion: '8.1.8' })], { image: image('9.0.0', true) });
    expect(judgeUpgrades(allowing).active?.name).toBe('a');
  });
});

describe('the version of a cluster', () => {
  const observed = (tag: string, upgrades: readonly ValkeyUpgradeResource[] = []) => ({
    ...worldOn('9.0.0', 1),
    ...facts(upgrades, { image: image(tag) }),
    orphans: [],
    health: { ok: true, slotsAssigned: 16384, viewsAgree: true, answered: 6, unreachable: [] },
    missing: [],
    owned: {},
  });

  it('is the one that runs until an upgrade has reached what the spec asks for', () => {
    const held = holdVersion(observed('9.1.2'));
    expect(held.cluster.spec.image.tag).toBe('9.0.0');
    expect(held.cluster.wantedTag).toBe('9.1.2');
  });

  it('is what the spec says while nothing else runs, and before it was whole for the first time', () => {
    expect(holdVersion(observed('9.0.0')).cluster.wantedTag).toBeUndefined();
    const young = observed('9.1.2');
    const created = { ...young, cluster: { ...young.cluster, observedGeneration: 0 } };
    expect(holdVersion(created)).toBe(created);
  });

  it.each(['latest', '9.1.2_custom', 'v9'])('is not held for a tag that no upgrade leads to: %s', (tag) => {
    expect(holdVersion(observed(tag)).cluster.wantedTag).toBeUndefined();
  });

  it('is the old one while an upgrade is half-way', () => {
    const half = observed('9.0.0', [upgrade('a', 'InProgress')]);
    const shards = half.shards.map((set, at) => (at === 0 ? { ...set, image: 'valkey/valkey:9.1.2' } : set));
    expect(holdVersion({ ...half, shards }).cluster.spec.image.tag).toBe('9.0.0');
  });

  it('is not tried again unasked after it was rolled back', () => {
    const rolled = holdVersion(observed('9.1.2', [upgrade('a', 'RolledBack')]));
    expect(failedAttempt(rolled)?.name).toBe('a');
    expect(failedAttempt(holdVersion(observed('9.1.2', [upgrade('a', 'Completed')])))).toBeNull();
  });
});

describe('versions and tags', () => {
  it.each([
    ['9.1.2', '9.0.0', '9.1.2'],
    ['9.1.2', '9.0.0-alpine', '9.1.2-alpine'],
    ['9.1.2-trixie', '9.0.0-alpine', '9.1.2-trixie'],
  ])('%s for a cluster on %s is %s', (target, current, tag) => {
    expect(tagFor(target, current)).toBe(tag);
  });

  it.each([
    ['valkey/valkey:9.1.2', '9.1.2'],
    ['registry:5000/valkey:9.1.2-alpine', '9.1.2-alpine'],
    ['registry:5000/valkey', 'latest'],
    ['valkey:9.1.2@sha256:abc', '9.1.2'],
  ])('the tag of %s is %s', (of, tag) => {
    expect(tagOf(of)).toBe(tag);
  });

  it.each([
    ['8.1.8', '9.1.2', false],
    ['9.1.2', '8.1.8', true],
    ['9.0.0', '9.1.2', true],
    ['9.1.2', '9.0.0', true],
    ['latest', '9.1.2', false],
  ])('%s reads what %s has written: %s', (reader, writer, reads) => {
    expect(readsDataOf(reader, writer)).toBe(reads);
  });

  it.each([
    ['9.1.2', '9.1.2-alpine', true],
    ['9.1.2', '9.1', true],
    ['9.1.2', '9.1.1', false],
    ['9.1.2', 'latest', true],
    [undefined, '9.1.2', true],
  ])('a server on %s is what %s names: %s', (version, tag, is) => {
    expect(isVersionOf(version, tag)).toBe(is);
  });

  it('surge where a shard would otherwise be left with one copy, unless told otherwise', () => {
    const spec = upgrade('a', null).spec;
    expect([0, 1, 2].map((replicas) => strategyOf(spec, replicas))).toEqual(['Surge', 'Surge', 'InPlace']);
    expect(strategyOf({ ...spec, strategy: 'InPlace' }, 1)).toBe('InPlace');
  });
});
