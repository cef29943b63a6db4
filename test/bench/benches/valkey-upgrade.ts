import { startStackFor } from '../../clean-end.ts';
import type { Bench } from '../bench.ts';
import type { ClusterWorld } from '../../valkey/cluster-world.ts';
import { upgradeByHand, upgradeByKeelson, withCluster } from '../fixtures/upgrade-by-hand.ts';

/** A whole upgrade, over what can not be done without: the restarts, syncs and handovers, by hand. */
export const valkeyUpgrade: Bench = {
  name: 'valkey-upgrade',
  about:
    'From an applied ValkeyUpgrade of 3 masters with a replica each (in place, 9.0.0 to 9.1.2, nothing watched in between) to Completed, over the same pods deleted by hand, each waited for until it is in sync, and a bare CLUSTER FAILOVER for each shard.',
  goal: 1.3,
  rounds: 3,
  async prepare(afterwards, interrupted) {
    const stack = await startStackFor(afterwards, { signal: interrupted });
    const timed = (work: (world: ClusterWorld) => Promise<void>) => (): Promise<number> =>
      withCluster(stack, async (world) => {
        const startedAtMs = performance.now();
        await work(world);
        return performance.now() - startedAtMs;
      });
    return { ours: timed((world) => upgradeByKeelson(world)), floor: timed(upgradeByHand) };
  },
};
