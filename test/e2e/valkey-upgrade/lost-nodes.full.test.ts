import { describe, expect, it } from 'vitest';
import type { ClusterWorld } from '../../valkey/cluster-world.ts';
import { tellServers, wrongWith } from '../../valkey/server-view.ts';
import { applyUpgrade, awaitUpgrade, awaitUpgradePhase, tagsOf } from '../../valkey/upgrade-world.ts';
import { clusterOn, underLoad } from './under-load.ts';

/** Holds an upgrade right before its first handover, does something there, and lets it go on. */
async function beforeHandover(
  world: ClusterWorld,
  name: string,
  work: () => Promise<unknown>,
): Promise<void> {
  const more = { strategy: 'InPlace', approval: 'BeforeFirstFailover' };
  await applyUpgrade(world, name, '9.1.2', more);
  await awaitUpgrade(world, name, 'asks', ({ message }) => message?.includes('waits for approval') === true);
  await work();
  const entity = (await world.temporal()).workflow.getHandle(world.entityId);
  const { hash } = await entity.query<{ readonly hash: string }>('plan');
  await entity.executeUpdate('approve', { args: [{ hash, by: 'ann', reason: 'looked at it' }] });
}

describe('a node that is lost in the middle of an upgrade', () => {
  it.each([
    ['the master that is about to hand over', 'cache-0-0'],
    ['the replica that is about to take over', 'cache-0-1'],
    ['the master of a shard that is not begun', 'cache-2-0'],
  ])('%s: the upgrade is complete, and what a replica had is there', async (_, pod) => {
    const world = await clusterOn('9.0.0', 1);
    const { report } = await underLoad(
      world,
      async () => {
        await beforeHandover(world, 'upgrade', () => loseHard(world, pod));
        await awaitUpgradePhase(world, 'upgrade', 'Completed');
        await world.awaitPhase('Running');
      },
      { confirmedBy: 1 },
    );
    expect(report).toMatchObject({ lost: [], wentBack: [] });
    expect(await tagsOf(world)).toEqual(['9.1.2']);
    expect(await wrongWith(world, 3, 1)).toBeNull();
    await world.remove();
  });
});

describe('a failover that does not come about', () => {
  it('is given up after its time, goes back, and loses nothing', async () => {
    const world = await clusterOn('9.0.0', 1);
    const { report } = await underLoad(world, async () => {
      await beforeHandover(world, 'upgrade', () => cutOff(world, 'cache-0-1'));
      const seen = await awaitUpgradePhase(world, 'upgrade', 'RolledBack');
      expect(seen.status?.errorMessage).toMatch(/the handover to cache-0-1 did not come about within 60 s/);
      await world.awaitPhase('Running');
    });
    expect(report).toMatchObject({ lost: [], wentBack: [] });
    expect(await tagsOf(world)).toEqual(['9.0.0']);
    expect(await wrongWith(world, 3, 1)).toBeNull();
    await world.remove();
  });
});

/** Ends a pod as the loss of its machine would. */
const loseHard = (world: ClusterWorld, name: string): Promise<unknown> =>
  world.api.send('DELETE', `/api/v1/namespaces/${world.namespace}/pods/${name}`, { gracePeriodSeconds: 0 });

/** Takes a replica its link to its master, for as long as its server runs. */
const cutOff = (world: ClusterWorld, name: string): Promise<unknown> =>
  tellServers(world, async (client, pod) => {
    if (pod !== name) return;
    await client.config('SET', 'masterauth', 'wrong');
    await client.call('CLIENT', 'KILL', 'TYPE', 'master');
  });
