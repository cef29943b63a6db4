import { describe, expect, it } from 'vitest';
import { wrongWith } from '../../valkey/server-view.ts';
import { awaitUpgradePhase, tagsOf } from '../../valkey/upgrade-world.ts';
import { BASE, clusterOn, underLoad, upgradeUnderLoad, wantedTag } from './under-load.ts';

describe.each([
  ['9.0.0', 1, 'InPlace'],
  ['9.0.0', 1, 'Surge'],
  ['9.0.0', 2, 'InPlace'],
  ['8.1.8', 1, 'InPlace'],
  ['8.1.8', 1, 'Surge'],
  ['8.1.8', 2, 'InPlace'],
] as const)('from %s with %i replicas, %s', (from, replicas, strategy) => {
  it('every node is on 9.1.2 in the end, and nothing is lost', async () => {
    const world = await clusterOn(from, replicas);
    const { report, seen } = await upgradeUnderLoad(world, 'upgrade', '9.1.2', 'Completed', { strategy });
    expect(report).toMatchObject({ lost: [], wentBack: [] });
    expect(seen.status?.shardStatuses?.map(({ status }) => status)).toEqual(
      Array.from({ length: 3 }, () => 'Completed'),
    );
    expect(await tagsOf(world)).toEqual(['9.1.2']);
    expect(await wantedTag(world)).toBe('9.1.2');
    expect(await wrongWith(world, 3, replicas)).toBeNull();
    await world.remove();
  });
});

describe('a cluster without replicas', () => {
  it('is upgraded by a surge, and loses nothing', async () => {
    const world = await clusterOn('9.0.0', 0);
    const { report } = await upgradeUnderLoad(world, 'upgrade', '9.1.2', 'Completed');
    expect(report).toMatchObject({ lost: [], wentBack: [] });
    expect(await wrongWith(world, 3, 0)).toBeNull();
    await world.remove();
  });
});

describe('two upgrades in a row', () => {
  it('lose nothing, although the roles have moved', async () => {
    const world = await clusterOn('8.1.8', 1);
    const first = await upgradeUnderLoad(world, 'first', '9.0.0', 'Completed', { strategy: 'InPlace' });
    const second = await upgradeUnderLoad(world, 'second', '9.1.2', 'Completed', { strategy: 'InPlace' });
    for (const { report } of [first, second]) expect(report).toMatchObject({ lost: [], wentBack: [] });
    expect(await tagsOf(world)).toEqual(['9.1.2']);
    await world.remove();
  });
});

describe('a changed tag', () => {
  it('is carried out by an upgrade of its own, and nothing is lost', async () => {
    const world = await clusterOn('9.0.0', 1);
    const { report } = await underLoad(world, async () => {
      const { metadata } = await world.apply({ ...BASE, replicasPerMaster: 1, image: { tag: '9.1.2' } });
      await awaitUpgradePhase(world, `${world.name}-g${metadata.generation}`, 'Completed');
      await world.awaitPhase('Running');
    });
    expect(report).toMatchObject({ lost: [], wentBack: [] });
    expect(await tagsOf(world)).toEqual(['9.1.2']);
    await world.remove();
  });
});
