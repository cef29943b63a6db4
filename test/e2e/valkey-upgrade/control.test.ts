import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';
import { applyUpgrade, awaitUpgrade, awaitUpgradePhase, tagsOf } from '../../valkey/upgrade-world.ts';
import { clusterOn, wantedTag } from './under-load.ts';

const FAST = { strategy: 'InPlace', stabilitySeconds: 0 } as const;

describe('people and a running upgrade', () => {
  let world: ClusterWorld;
  beforeAll(async () => {
    world = await clusterOn('9.0.0', 1);
  });
  afterAll(() => world.remove());

  const entity = async () => (await world.temporal()).workflow.getHandle(world.entityId);

  /** Waits until the upgrade asks, and agrees. */
  async function approve(name: string, shard: number): Promise<void> {
    const asks = (message: string | undefined): boolean =>
      message?.includes('waits for approval') === true && message.includes(`number ${shard} `);
    await awaitUpgrade(world, name, 'asks', ({ message }) => asks(message));
    const handle = await entity();
    const { hash } = await handle.query<{ readonly hash: string }>('plan');
    await handle.executeUpdate('approve', { args: [{ hash, by: 'ann', reason: 'looked at it' }] });
  }

  it('a shard that somebody leaves out stays as it is, and each other one is asked for', async () => {
    const handle = await entity();
    const skip = { shard: 1, reason: 'its owner asks' };
    await expect(handle.executeUpdate('skipShard', { args: [skip] })).rejects.toThrow(
      'Workflow Update failed',
    );
    await applyUpgrade(world, 'asking', '9.1.2', { ...FAST, approval: 'EachShard' });
    await awaitUpgrade(
      world,
      'asking',
      'asks',
      ({ message }) => message?.includes('waits for approval') === true,
    );
    expect(await tagsOf(world)).toEqual(['9.0.0']);
    await handle.executeUpdate('skipShard', { args: [skip] });
    await approve('asking', 1);
    await approve('asking', 2);
    const seen = await awaitUpgradePhase(world, 'asking', 'Completed');
    expect(seen.status?.shardStatuses?.map(({ status }) => status)).toEqual([
      'Completed',
      'Skipped',
      'Completed',
    ]);
    expect(seen.status?.message).toMatch(/shard 1 was left out/);
    expect(await tagsOf(world)).toEqual(['9.0.0', '9.1.2']);
    expect(await wantedTag(world)).toBe('9.0.0');
    expect(await wrongWith(world, 3, 1)).toBeNull();
  });

  it('a cancelled upgrade goes back, and the next one does the rest', async () => {
    await applyUpgrade(world, 'cancelled', '9.1.2', FAST);
    await awaitUpgrade(world, 'cancelled', 'begun', ({ currentShard }) => currentShard === 1);
    await (await entity()).executeUpdate('cancelOperation', { args: [{ reason: 'not today' }] });
    const seen = await awaitUpgradePhase(world, 'cancelled', 'RolledBack');
    expect(seen.status?.errorMessage).toBe('cancelled: not today');
    expect(await tagsOf(world)).toEqual(['9.0.0']);
    await applyUpgrade(world, 'rest', '9.1.2', FAST);
    await awaitUpgradePhase(world, 'rest', 'Completed');
    expect(await tagsOf(world)).toEqual(['9.1.2']);
    expect(await wrongWith(world, 3, 1)).toBeNull();
  });
});
