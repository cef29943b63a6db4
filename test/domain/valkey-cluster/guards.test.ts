import { describe, expect, it } from 'vitest';
import { judgePlan } from '../../../workflows/shared/guards.ts';
import { GUARDS, type ValkeyFacts } from '../../../workflows/valkey-cluster/domain/guards.ts';
import { planValkeyCluster, type ValkeyWish } from '../../../workflows/valkey-cluster/domain/plan.ts';
import { parseVersion } from '../../../workflows/valkey-cluster/domain/version.ts';
import { clusterNodes, shardNodes } from '../../plans/valkey-cluster/simulated-cluster.ts';
import { sampleCluster, sampleSpec } from './sample-cluster.ts';
import { sampleObservation } from './sample-observation.ts';

const wish = (masters: number, replicasPerMaster = 1): ValkeyWish => ({ masters, replicasPerMaster });
const MIB = 2 ** 20;

function judge(facts: ValkeyFacts, wish: ValkeyWish) {
  const { blocked, unknown } = judgePlan(GUARDS, facts, planValkeyCluster(facts, wish));
  return {
    blocked: Object.fromEntries(blocked.map(({ guard, message }) => [guard, message])),
    unknown: unknown.map(({ guard }) => guard),
  };
}

const measured = (usedMiB: number) =>
  clusterNodes([4096, 4096, 4096, 4096], 1).map((node) => ({
    ...node,
    version: '9.1.2',
    usedMemory: usedMiB * MIB,
    maxMemory: 768 * MIB,
  }));

describe('guards', () => {
  it('allow a scale-up of a cluster that is whole, and judge all that was observed', () => {
    const facts = {
      ...sampleObservation(),
      places: { machines: 1, eligible: [{ name: 'node-1', zone: 'a' }] },
    };
    const nodes = facts.nodes.map((node) => ({ ...node, usedMemory: MIB, maxMemory: 768 * MIB }));
    expect(judge({ ...facts, nodes }, wish(4))).toEqual({ blocked: {}, unknown: [] });
  });

  it('name the Secret that is missing, and the field', () => {
    const missing = [
      { field: 'spec.auth.secretRef', message: 'Secret cache-auth does not exist: create it' },
    ];
    const facts = sampleObservation({ missing, nodes: [], pods: [], shards: [] });
    expect(judge(facts, wish(3)).blocked).toEqual({
      DependenciesExist: 'spec.auth.secretRef: Secret cache-auth does not exist: create it',
    });
  });

  it('let a deletion pass whatever is missing', () => {
    const missing = [
      { field: 'spec.auth.secretRef', message: 'Secret cache-auth does not exist: create it' },
    ];
    expect(judge(sampleObservation({ missing }), { ...wish(3), deleting: true }).blocked).toEqual({});
  });

  it('refuse a scale-down that the receivers have no memory for, with the numbers', () => {
    const { blocked } = judge({ nodes: measured(600), cluster: sampleCluster() }, wish(3));
    expect(blocked['MemoryHeadroom']).toMatch(/^shard 0 needs 800 MiB and has 692 MiB; .*spec\.resources/);
  });

  it('allow the same scale-down when the data is small', () => {
    expect(judge({ nodes: measured(100), cluster: sampleCluster() }, wish(3)).blocked).toEqual({});
  });

  it('say that memory could not be judged when it was not observed', () => {
    const nodes = clusterNodes([4096, 4096, 4096, 4096], 1);
    expect(judge({ nodes, cluster: sampleCluster() }, wish(3)).unknown).toContain('MemoryHeadroom');
  });

  it('want a majority of masters before anything moves', () => {
    const nodes = clusterNodes([4096, 4096, 4096, 4096], 1).map((node) => ({
      ...node,
      ready: node.role === 'replica' || node.shard > 1,
    }));
    const { blocked } = judge({ nodes, cluster: sampleCluster() }, wish(3));
    expect(blocked['MajorityOfMasters']).toMatch(/^2 of 4 masters can be reached/);
  });

  it('refuse to move anything in a shard with two masters', () => {
    const split = [...shardNodes(0, [[0, 8000]], 0), ...shardNodes(1, [[8001, 16000]], 0)];
    const second = { ...shardNodes(1, [[16001, 16383]], 0)[0], id: 'second', pod: 'cache-1-1' };
    const nodes = [...split, second as (typeof split)[number]];
    expect(judge({ nodes, cluster: sampleCluster() }, wish(3)).blocked['OneMasterPerShard']).toMatch(
      /^shard 1 has 2 masters with slots \(cache-1-0, cache-1-1\)/,
    );
  });

  it('let nodes meet that lost sight of each other and both claim the same slots', () => {
    const observed = sampleObservation();
    const [first, ...others] = observed.nodes;
    if (first === undefined) throw new Error('the sample has nodes');
    const rival = others.find((node) => node.shard === first.shard);
    const nodes = observed.nodes.map((node) =>
      node === rival ? { ...node, role: 'master' as const, masterId: null, slots: first.slots } : node,
    );
    const health = (viewsAgree: boolean) => ({ ...observed.health, ok: viewsAgree, viewsAgree });
    expect(judge({ ...observed, nodes, health: health(false) }, wish(3)).blocked).toEqual({});
    expect(judge({ ...observed, nodes, health: health(true) }, wish(3)).blocked).toHaveProperty(
      'OneMasterPerShard',
    );
  });

  it.each([
    ['9.1.1', '9.1.2', true],
    ['9.1.2', '9.1.2', false],
    ['9.2.0-alpine', '9.1.2', false],
    ['8.1.8', '9.0.0', true],
    ['latest', '9.1.2', false],
  ])('with tag %s on nodes of %s, say of a downgrade: %s', (tag, version, refused) => {
    const cluster = sampleCluster({ image: { ...sampleSpec.image, tag } });
    const nodes = clusterNodes([5461, 5461, 5462], 0).map((node) => ({ ...node, version }));
    const { blocked } = judge({ nodes, cluster }, wish(3));
    expect('NoDowngrade' in blocked).toBe(refused);
  });

  it('allow a downgrade that is asked for', () => {
    const cluster = sampleCluster({ image: { ...sampleSpec.image, tag: '8.1.8', allowDowngrade: true } });
    const nodes = clusterNodes([5461, 5461, 5462], 0).map((node) => ({ ...node, version: '9.1.2' }));
    expect(judge({ nodes, cluster }, wish(3)).blocked).toEqual({});
  });

  it('refuse new pods where no node may take them, and name the selector', () => {
    const scheduling = { ...sampleSpec.scheduling, nodeSelector: { disk: 'ssd' } };
    const cluster = sampleCluster({ scheduling });
    const { blocked } = judge(
      { nodes: [], cluster, places: { machines: 5, eligible: [] }, missing: [] },
      wish(3),
    );
    expect(blocked['EligibleNodes']).toMatch(/^of 5 nodes none may take a pod.*disk=ssd/);
  });
});

describe('versions', () => {
  it.each([
    ['9.1.2', [9, 1, 2]],
    ['9.1.2-alpine', [9, 1, 2]],
    ['v8.1', [8, 1, 0]],
    ['latest', null],
    ['9.1.2.3', null],
  ])('%s', (text, version) => {
    expect(parseVersion(text)).toEqual(version);
  });
});
