import { describe, expect, it } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';
import { applyUpgrade, awaitUpgrade, awaitUpgradePhase, tagsOf } from '../../valkey/upgrade-world.ts';
import { BASE, underLoad, upgradeUnderLoad, wantedTag } from './under-load.ts';

/** A running cluster on 9.0.0 whose pods lose their data when they restart. */
async function clusterWithoutVolumes(): Promise<ClusterWorld> {
  const world = await ClusterWorld.create(await useStack());
  const persistence = { enabled: false };
  await world.applyWithSecret({ ...BASE, persistence, replicasPerMaster: 1, image: { tag: '9.0.0' } });
  await world.awaitPhase('Running');
  return world;
}

describe('a cluster without volumes', () => {
  it.each(['InPlace', 'Surge'])('is upgraded %s, and nothing is lost', async (strategy) => {
    const world = await clusterWithoutVolumes();
    const { report, seen } = await upgradeUnderLoad(world, 'upgrade', '9.1.2', 'Completed', { strategy });
    expect(report).toMatchObject({ lost: [], wentBack: [] });
    expect(seen.status?.shardStatuses?.map(({ status }) => status)).toEqual(
      Array.from({ length: 3 }, () => 'Completed'),
    );
    expect(await tagsOf(world)).toEqual(['9.1.2']);
    expect(await wantedTag(world)).toBe('9.1.2');
    expect(await wrongWith(world, 3, 1)).toBeNull();
    await world.remove();
  });

  it('goes back when its upgrade is cancelled in the middle, and nothing is lost', async () => {
    const world = await clusterWithoutVolumes();
    const { report } = await underLoad(world, async () => {
      await applyUpgrade(world, 'upgrade', '9.1.2', { strategy: 'InPlace' });
      await awaitUpgrade(world, 'upgrade', 'begun', ({ currentShard }) => currentShard === 1);
      const entity = (await world.temporal()).workflow.getHandle(world.entityId);
      await entity.executeUpdate('cancelOperation', { args: [{ reason: 'not today' }] });
      await awaitUpgradePhase(world, 'upgrade', 'RolledBack');
      await world.awaitPhase('Running');
    });
    expect(report).toMatchObject({ lost: [], wentBack: [] });
    expect(await tagsOf(world)).toEqual(['9.0.0']);
    expect(await wrongWith(world, 3, 1)).toBeNull();
    await world.remove();
  });
});
