import * as fc from 'fast-check';
import type { SlotRange, ValkeyNode } from '../../../workflows/valkey-cluster/domain/observation.ts';
import { joinRanges } from '../../../workflows/valkey-cluster/domain/slots.ts';
import { freshNode, shardNodes } from './simulated-cluster.ts';

const SLOTS = 16_384;

/** A formed cluster of any shape: shards with gaps in their numbers, uneven scattered slots, masters at any ordinal. */
export const formedCluster = (maxShards: number): fc.Arbitrary<readonly ValkeyNode[]> =>
  fc
    .record({
      shards: fc.uniqueArray(fc.nat({ max: maxShards * 2 }), { minLength: 1, maxLength: maxShards }),
      cuts: fc.array(fc.integer({ min: 1, max: SLOTS - 1 }), { minLength: 0, maxLength: maxShards * 3 }),
      owners: fc.array(fc.nat(), { minLength: maxShards * 3 + 1, maxLength: maxShards * 3 + 1 }),
      replicas: fc.nat({ max: 3 }),
      masters: fc.array(fc.nat(), { minLength: maxShards, maxLength: maxShards }),
    })
    .map(({ shards, cuts, owners, replicas, masters }) => {
      const edges = [0, ...new Set(cuts.toSorted((a, b) => a - b)), SLOTS];
      const pieces = edges.slice(0, -1).map((first, at): SlotRange => [first, (edges[at + 1] ?? SLOTS) - 1]);
      return shards.flatMap((shard, at) => {
        const own = pieces.filter((_, piece) => (owners[piece] ?? 0) % shards.length === at);
        return shardNodes(shard, joinRanges(own), replicas, (masters[at] ?? 0) % (replicas + 1));
      });
    });

/** Breaks a cluster in ways that heal without data: pods away, replicas strayed, nodes that started anew. */
export const battered = (nodes: readonly ValkeyNode[], blows: readonly number[]): readonly ValkeyNode[] =>
  nodes.flatMap((node, at): ValkeyNode[] => {
    if (node.role === 'master') return [{ ...node, ready: (blows[at % blows.length] ?? 0) % 5 !== 0 }];
    switch ((blows[at % blows.length] ?? 0) % 5) {
      case 0:
        return [];
      case 1:
        return [{ ...node, masterId: 'somebody-else' }];
      case 2:
        return [freshNode(node.shard, Number(node.pod.split('-').at(-1)))];
      case 3:
        return [{ ...node, linkUp: false }];
      default:
        return [node];
    }
  });

/** Any shape that a spec may ask for, and smaller ones. */
export const anyWish = fc.record({
  masters: fc.integer({ min: 1, max: 9 }),
  replicasPerMaster: fc.nat({ max: 3 }),
});
