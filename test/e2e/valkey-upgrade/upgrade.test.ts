import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import { Audit, type AuditReport } from '../../valkey/audit.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';
import { applyUpgrade, awaitUpgradePhase, tagsOf, type UpgradeSeen } from '../../valkey/upgrade-world.ts';

const BASE = {
  auth: { secretRef: { name: 'cache-auth' } },
  persistence: { size: '64Mi', retention: 'Delete' },
} as const;

describe('a cluster of 3 masters with a replica each that is written to all the while', () => {
  let world: ClusterWorld;
  beforeAll(async () => {
    world = await ClusterWorld.create(await useStack());
    await world.applyWithSecret({ ...BASE, image: { tag: '9.0.0' } });
    await world.awaitPhase('Running');
  });
  afterAll(() => world.remove());

  /** Upgrades under load, and answers what the writers saw. */
  async function upgrade(
    name: string,
    target: string,
    end: string,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<{ readonly report: AuditReport; readonly seen: UpgradeSeen }> {
    const audit = await Audit.start(world);
    try {
      await applyUpgrade(world, name, target, more);
      const seen = await awaitUpgradePhase(world, name, end);
      await world.awaitPhase('Running');
      const report = await audit.stop();
      console.log(JSON.stringify({ name, target, shards: seen.status?.shardStatuses, ...report }));
      return { report, seen };
    } finally {
      await audit.stop();
    }
  }

  it('rolls back from an image that does not exist, and loses nothing', async () => {
    const { report, seen } = await upgrade('broken', '9.9.9', 'RolledBack', { podReadyTimeoutSeconds: 15 });
    expect(report).toMatchObject({ lost: [], wentBack: [] });
    expect(seen.status?.errorMessage).toMatch(/9\.9\.9/);
    expect(await tagsOf(world)).toEqual(['9.0.0']);
    expect(await wrongWith(world, 3, 1)).toBeNull();
  });

  it('is upgraded in place from 9.0.0 to 9.1.2, and loses nothing', async () => {
    const { report, seen } = await upgrade('in-place', '9.1.2', 'Completed', { strategy: 'InPlace' });
    expect(report).toMatchObject({ lost: [], wentBack: [] });
    expect(report.writes).toBeGreaterThan(100);
    expect(seen.status?.shardStatuses?.map(({ status }) => status)).toEqual([
      'Completed',
      'Completed',
      'Completed',
    ]);
    expect(await tagsOf(world)).toEqual(['9.1.2']);
    expect(await wrongWith(world, 3, 1)).toBeNull();
    const cluster = (await world.read()) as unknown as {
      readonly spec: { readonly image: { readonly tag: string } };
    };
    expect(cluster.spec.image.tag).toBe('9.1.2');
  });
});
