import type {
  ValkeyNode,
  ValkeyObservation,
  ValkeyPod,
  ValkeyShardSet,
} from '../../../workflows/valkey-cluster/domain/observation.ts';
import { clusterNodes } from '../valkey-cluster/simulated-cluster.ts';

/** What an upgrade is planned from. */
export type World = Pick<ValkeyObservation, 'nodes' | 'pods' | 'shards'>;

export const imageOf = (tag: string): string => `valkey/valkey:${tag}`;

/** Three shards of the same shape, all on one version. */
export function worldOn(tag: string, replicas: number): World {
  const nodes = clusterNodes([5461, 5461, 5462], replicas).map((node) => ({
    ...node,
    version: tag,
    offset: 1000,
  }));
  const sets = [0, 1, 2].map((shard): ValkeyShardSet => ({
    shard,
    name: `cache-${shard}`,
    uid: `uid-${shard}`,
    replicas: 1 + replicas,
    image: imageOf(tag),
  }));
  return { nodes, pods: nodes.map((node) => podOf(node, tag)), shards: sets };
}

/** The pod of a node. */
export const podOf = (node: Pick<ValkeyNode, 'pod' | 'shard' | 'id'>, tag: string): ValkeyPod => ({
  name: node.pod,
  uid: `uid-of-${node.pod}`,
  shard: node.shard,
  ip: '127.0.0.1',
  node: 'node-1',
  zone: 'zone-1',
  phase: 'Running',
  ready: true,
  terminating: false,
  image: imageOf(tag),
  waiting: null,
  nodeId: node.id,
});

/** The same world with another version in some pods, and in what their StatefulSet makes. */
export function withTag(world: World, tag: string, shard: number, pods: readonly string[]): World {
  return {
    nodes: world.nodes.map((node) => (pods.includes(node.pod) ? { ...node, version: tag } : node)),
    pods: world.pods.map((pod) => (pods.includes(pod.name) ? { ...pod, image: imageOf(tag) } : pod)),
    shards: world.shards.map((set) => (set.shard === shard ? { ...set, image: imageOf(tag) } : set)),
  };
}
