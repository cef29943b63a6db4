import type {
  ValkeyClusterResource,
  ValkeyNode,
  ValkeyObservation,
  ValkeyPod,
} from '../../../workflows/valkey-cluster/domain/observation.ts';
import { templateHash } from '../../../workflows/valkey-cluster/domain/pod-template.ts';
import { clusterNodes } from '../../plans/valkey-cluster/simulated-cluster.ts';
import { sampleCluster } from './sample-cluster.ts';

/** The pod of a node, as it is when all is well. */
export const podOf = (node: ValkeyNode, cluster: ValkeyClusterResource): ValkeyPod => ({
  name: node.pod,
  uid: `uid-of-${node.pod}`,
  shard: node.shard,
  ip: '127.0.0.1',
  node: node.node ?? 'node-1',
  zone: node.zone,
  phase: 'Running',
  ready: node.ready,
  terminating: false,
  image: 'valkey/valkey:9.1.2',
  templateHash: templateHash(cluster),
  waiting: null,
  nodeId: node.id,
});

/** Three masters with a replica each, whole and agreed. */
export function sampleObservation(change: Partial<ValkeyObservation> = {}): ValkeyObservation {
  const cluster = change.cluster ?? sampleCluster();
  const nodes =
    change.nodes ?? clusterNodes([5461, 5461, 5462], 1).map((node) => ({ ...node, version: '9.1.2' }));
  return {
    cluster,
    nodes,
    pods: nodes.map((node) => podOf(node, cluster)),
    shards: [0, 1, 2].map((shard) => ({
      shard,
      name: `cache-${shard}`,
      uid: `uid-of-cache-${shard}`,
      replicas: 2,
      image: 'valkey/valkey:9.1.2',
    })),
    orphans: [],
    health: { ok: true, slotsAssigned: 16384, viewsAgree: true, answered: 6, unreachable: [] },
    missing: [],
    owned: {},
    ...change,
  };
}
