import { describe, expect, it } from 'vitest';
import * as names from '../../../workflows/valkey-cluster/domain/names.ts';

const longest = 'a'.repeat(53);

describe('the names of a cluster', () => {
  it('are the cluster and the shard where that fits', () => {
    expect(names.shardSetName('cache', 0)).toBe('cache-0');
    expect(names.podName('cache', 12, 1)).toBe('cache-12-1');
  });

  it('keep the StatefulSet of shard 99 of a cluster with 53 characters within 52', () => {
    const name = names.shardSetName(longest, 99);
    expect(name).toHaveLength(52);
    expect(name).toMatch(/^a{40}-[0-9a-f]{8}-99$/);
  });

  it('keep every other name within the 63 characters of a label', () => {
    for (const name of [
      names.headlessServiceName(longest),
      names.clientServiceName(longest),
      names.readServiceName(longest),
      names.configMapName(longest),
      names.issuedTlsSecretName(longest),
      names.podName(longest, 99, 5),
    ]) {
      expect(name.length).toBeLessThanOrEqual(63);
    }
  });

  it('differ for all shards of clusters whose names differ only at the end', () => {
    const clusters = ['x', 'y', 'z'].map((end) => `${'a'.repeat(52)}${end}`);
    const all = clusters.flatMap((cluster) =>
      Array.from({ length: 100 }, (_, shard) => names.shardSetName(cluster, shard)),
    );
    expect(new Set(all).size).toBe(300);
  });

  it('do not let one cluster be taken for a shard of another', () => {
    const sets = [
      names.shardSetName('cache', 1),
      names.shardSetName('cache-1', 0),
      names.shardSetName('cache', 10),
    ];
    expect(new Set(sets).size).toBe(3);
  });
});
