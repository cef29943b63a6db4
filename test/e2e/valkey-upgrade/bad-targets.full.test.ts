import { describe, expect, it } from 'vitest';
import type { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';
import { applyUpgrade, awaitUpgrade, awaitUpgradePhase, tagsOf } from '../../valkey/upgrade-world.ts';
import { clusterOn, underLoad, upgradeUnderLoad, wantedTag } from './under-load.ts';

describe('a target whose server crashes on its start', () => {
  it('goes back, and loses nothing', async () => {
    const world = await clusterOn('9.1.2', 1, { allowDowngrade: true });
    // The server ends at once: it can not read what is on its volume.
    const more = { strategy: 'InPlace', podReadyTimeoutSeconds: 8 };
    const { report, seen } = await upgradeUnderLoad(world, 'crashing', '8.1.8', 'RolledBack', more);
    expect(report).toMatchObject({ lost: [], wentBack: [] });
    expect(seen.status?.errorMessage).toMatch(/2 Ready pods of shard 0 did not come about within 8 s/);
    expect(seen.status?.shardStatuses?.map(({ status }) => status)).toEqual([
      'Pending',
      'Pending',
      'Pending',
    ]);
    expect(await tagsOf(world)).toEqual(['9.1.2']);
    expect(await wantedTag(world)).toBe('9.1.2');
    expect(await wrongWith(world, 3, 1)).toBeNull();
    await world.remove();
  });
});

describe('a failure past the point of no return', () => {
  it('is repaired forward, is told, and loses nothing', async () => {
    const world = await clusterOn('8.1.8', 1);
    const { report } = await underLoad(world, async () => {
      await applyUpgrade(world, 'onward', '9.1.2', { strategy: 'InPlace', podReadyTimeoutSeconds: 10 });
      await awaitUpgrade(world, 'onward', 'the second shard', ({ currentShard }) => currentShard === 1);
      await letNoPodCome(world);
      const told = await awaitUpgrade(world, 'onward', 'that it repairs forward', ({ message }) =>
        /repaired forward/.test(message ?? ''),
      );
      expect(told.status).toMatchObject({
        phase: 'InProgress',
        errorMessage: expect.stringMatching(/did not come about within 10 s/),
        message: expect.stringMatching(/shard 0 has no node on 8\.1\.8 any more/),
      });
      await letPodsCome(world);
      await awaitUpgradePhase(world, 'onward', 'Completed');
      await world.awaitPhase('Running');
    });
    expect(report).toMatchObject({ lost: [], wentBack: [] });
    expect(await tagsOf(world)).toEqual(['9.1.2']);
    expect(await wrongWith(world, 3, 1)).toBeNull();
    await world.remove();
  });
});

const quotas = (world: ClusterWorld): string => `/api/v1/namespaces/${world.namespace}/resourcequotas`;

/** Pods that are there stay; one that goes does not come back. */
const letNoPodCome = (world: ClusterWorld): Promise<unknown> =>
  world.api.send('POST', quotas(world), { metadata: { name: 'none' }, spec: { hard: { pods: '0' } } });

const letPodsCome = (world: ClusterWorld): Promise<unknown> =>
  world.api.send('DELETE', `${quotas(world)}/none`);
