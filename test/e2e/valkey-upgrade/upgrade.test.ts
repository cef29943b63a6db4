import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';
import { applyUpgrade, awaitUpgrade, awaitUpgradePhase, tagsOf } from '../../valkey/upgrade-world.ts';
import { clusterOn, underLoad, upgradeUnderLoad, wantedTag } from './under-load.ts';

describe('a cluster of 3 masters with a replica each that is written to all the while', () => {
  let world: ClusterWorld;
  beforeAll(async () => {
    world = await clusterOn('9.0.0', 1);
  });
  afterAll(() => world.remove());

  it('rolls back from an image that does not exist, and loses nothing', async () => {
    const limits = { podReadyTimeoutSeconds: 15 };
    const { report, seen } = await upgradeUnderLoad(world, 'broken', '9.9.9', 'RolledBack', limits);
    expect(report).toMatchObject({ lost: [], wentBack: [] });
    expect(seen.status?.errorMessage).toMatch(/9\.9\.9/);
    expect(await tagsOf(world)).toEqual(['9.0.0']);
    expect(await wantedTag(world)).toBe('9.0.0');
    expect(await wrongWith(world, 3, 1)).toBeNull();
  });

  it('is upgraded in place from 9.0.0 to 9.1.2, also when a pod goes by itself, and loses nothing', async () => {
    const { report } = await underLoad(world, async () => {
      await applyUpgrade(world, 'in-place', '9.1.2', { strategy: 'InPlace' });
      await awaitUpgrade(world, 'in-place', 'the second shard', ({ currentShard }) => currentShard === 1);
      // The old master of the first shard, a replica by now: it must come back in the version that its shard has.
      await deletePod(world, 'cache-0-0');
      await awaitUpgradePhase(world, 'in-place', 'Completed');
      await world.awaitPhase('Running');
    });
    console.log(JSON.stringify(report));
    expect(report).toMatchObject({ lost: [], wentBack: [] });
    expect(report.writes).toBeGreaterThan(100);
    expect(await tagsOf(world)).toEqual(['9.1.2']);
    expect(await wrongWith(world, 3, 1)).toBeNull();
    expect(await wantedTag(world)).toBe('9.1.2');
  });
});

const deletePod = (world: ClusterWorld, name: string): Promise<unknown> =>
  world.api.send('DELETE', `/api/v1/namespaces/${world.namespace}/pods/${name}`);
