import { startStackFor } from '../../clean-end.ts';
import { Audit } from '../../valkey/audit.ts';
import type { ClusterWorld } from '../../valkey/cluster-world.ts';
import type { Bench } from '../bench.ts';
import { median } from '../figures.ts';
import { handOverByHand, upgradeByKeelson, withCluster } from '../fixtures/upgrade-by-hand.ts';

/** The sixteenths of the slots that lie within one shard of three. */
const RANGES: readonly (readonly number[])[] = [
  [0, 1, 2, 3, 4],
  [6, 7, 8, 9],
  [11, 12, 13, 14, 15],
];

/** Writers that leave the processors to the servers: at full speed they would be what is measured. */
const LIGHT = { restMs: 2 } as const;
/** After so many writes a handover, or the start, is over for the writers too. */
const SETTLED_WRITES = 1_000;

/** The longest time without a write in each shard during an upgrade, over that of a bare handover by hand. */
export const valkeyHandoff: Bench = {
  name: 'valkey-handoff',
  about:
    'The longest time in which no write to a shard was acknowledged during an upgrade of 3 masters with a replica each, over that of a bare CLUSTER FAILOVER of each shard by hand on an identical cluster; the median of the shards.',
  goal: 1.5,
  rounds: 3,
  async prepare(afterwards, interrupted) {
    const stack = await startStackFor(afterwards, { signal: interrupted });
    const gaps: Record<'ours' | 'floor' | 'surge', number[]> = { ours: [], floor: [], surge: [] };
    const measured =
      (of: keyof typeof gaps, work: (world: ClusterWorld, audit: Audit) => Promise<void>) => () =>
        withCluster(stack, async (world) => {
          const audit = await Audit.start(world, LIGHT);
          try {
            await settle(audit);
            await work(world, audit);
          } finally {
            await audit.stop();
          }
          const { gapsMs } = await audit.stop();
          const shards = RANGES.map((ranges) => Math.max(...ranges.map((range) => gapsMs[range] ?? 0)));
          gaps[of].push(...shards);
          return median(shards);
        });
    return {
      ours: measured('ours', (world) => upgradeByKeelson(world)),
      floor: measured('floor', (world, audit) => handOverByHand(world, () => settle(audit))),
      async beside() {
        await measured('surge', (world) => upgradeByKeelson(world, 'Surge'))();
        return [
          ['upgrade, each shard', `${gaps.ours.join(', ')} ms`],
          ['upgrade with a surge, each shard, once', `${gaps.surge.join(', ')} ms`],
          ['by hand, each shard', `${gaps.floor.join(', ')} ms`],
        ];
      },
    };
  },
};

const settle = (audit: Audit): Promise<void> => audit.reached(audit.writes + SETTLED_WRITES);
