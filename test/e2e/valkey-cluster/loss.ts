import { afterAll, beforeAll, expect, it } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { tellServers } from '../../valkey/server-view.ts';

const SPEC = {
  replicasPerMaster: 0,
  auth: { secretRef: { name: 'cache-auth' } },
  persistence: { size: '64Mi', retention: 'Delete' },
} as const;

/** What becomes of a cluster whose data is lost, also when somebody wishes for something else then. */
export function describeLostData(wish: Readonly<Record<string, unknown>>): void {
  let world: ClusterWorld;
  beforeAll(async () => {
    world = await ClusterWorld.create(await useStack());
    await world.applyWithSecret(SPEC);
    await world.awaitPhase('Running');
  });
  afterAll(() => world.remove());

  it('a master without a replica that lost its data fails the cluster, and no empty one takes its place', async () => {
    const pods = `/api/v1/namespaces/${world.namespace}`;
    await world.api.send('DELETE', `${pods}/persistentvolumeclaims/data-cache-0-0`);
    await world.api.send('DELETE', `${pods}/pods/cache-0-0`, { gracePeriodSeconds: 0 });
    const failed = await world.until(async () => {
      const seen = await world.read();
      return seen?.status?.phase === 'Failed'
        ? { found: seen }
        : { missing: `phase Failed, not ${JSON.stringify(seen?.status)}` };
    });
    const ready = failed.status?.conditions?.find(({ type }) => type === 'Ready');
    expect(ready).toMatchObject({ status: 'False', reason: 'ValkeyDataLost' });
    expect(ready?.message).toContain('slots 0-5460 are served by no node');

    // Neither a person's retry nor another wish fills the hole; both are told the same again.
    const handle = (await world.temporal()).workflow.getHandle(world.entityId);
    await handle.executeUpdate('retry');
    await world.apply({ ...SPEC, ...wish });
    await world.until(async () => {
      const seen = await world.read();
      const told = seen?.status?.conditions?.find(({ type }) => type === 'Ready');
      const newest = (told as { readonly observedGeneration?: number } | undefined)?.observedGeneration;
      return newest === seen?.metadata.generation && seen?.status?.phase === 'Failed'
        ? { found: true }
        : { missing: 'the newest generation to be told of the loss' };
    });
    const assigned = await tellServers(world, (client) => client.cluster('INFO'));
    for (const info of assigned) expect(info).not.toContain('cluster_slots_ok:16384');
  });
}
