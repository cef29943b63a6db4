import type { ClusterWorld } from './cluster-world.ts';
import { tellServers, viewServers, wrongWith } from './server-view.ts';

/** Has these pods lead their shards, by hand, and waits until the cluster is whole with them. */
export async function leadBy(
  world: ClusterWorld,
  shape: { readonly masters: number; readonly replicasPerMaster: number },
  pods: readonly string[],
): Promise<void> {
  await world.until(async () => {
    const wrong = await wrongWith(world, shape.masters, shape.replicasPerMaster).catch(String);
    if (wrong !== null) return { missing: `a whole cluster: ${wrong}` };
    const followers = (await viewServers(world)).filter(
      ({ pod, role }) => pods.includes(pod) && role === 'slave',
    );
    if (followers.length === 0) return { found: true };
    const names = followers.map(({ pod }) => pod);
    await tellServers(world, async (client, pod) => {
      // One that is at it already refuses to begin again.
      if (names.includes(pod)) await client.cluster('FAILOVER').catch(() => {});
    });
    return { missing: `${names.join(', ')} to lead` };
  });
}
