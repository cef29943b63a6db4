import type { ClusterWorld } from './cluster-world.ts';
import { tellServers } from './server-view.ts';

/** Makes every server take this long for each key that it sends in a snapshot, so that a move can be met under way. */
export async function slowMoves(world: ClusterWorld, microsecondsPerKey: number): Promise<void> {
  await tellServers(world, (client) =>
    client.config('SET', 'rdb-key-save-delay', String(microsecondsPerKey)),
  );
}

/** Waits until a server says that it is giving slots away by a job. */
export async function awaitMove(world: ClusterWorld): Promise<void> {
  await world.until(async () => {
    const jobs = await tellServers(world, (client) => client.call('CLUSTER', 'GETSLOTMIGRATIONS'));
    const moving = jobs.some((list) => JSON.stringify(list).includes('"snapshotting"'));
    return moving ? { found: true } : { missing: 'a job under way' };
  });
}
