import type { ValkeyNode, ValkeyPod } from './observation.ts';
import { countSlots } from './slots.ts';
import type { ValkeyTopology } from './topology.ts';

/** A shard whose master is lost, and the replica that knows most of it. */
export interface Bereft {
  readonly shard: number;
  /** The pod of the lost master, or its node id where no pod stands for it. */
  readonly from: string;
  readonly heir: ValkeyNode;
}

/** Pods that wait for a machine which will not end them, and whether only a person can know that it is safe to do so. */
export const stuckPods = (pods: readonly ValkeyPod[] = []): readonly StuckPod[] =>
  pods.flatMap((pod) => (pod.stuck === undefined || pod.stuck === null ? [] : [{ pod, ...pod.stuck }]));

export interface StuckPod {
  readonly pod: ValkeyPod;
  readonly node: string;
  readonly why: 'gone' | 'out-of-service' | 'lost';
}

/**
 * Shards that Valkey cannot give a new master by itself, because no majority of masters is left to vote. Empty while
 * one is, and while nodes that answer only have to be introduced to each other again.
 */
export function bereftShards({ nodes, orphans = [], health }: ValkeyTopology): readonly Bereft[] {
  if (health?.apart === undefined || health.apart.length > 0) return [];
  const silent = new Set(health.unreachable.map(({ pod }) => pod));
  const serving = nodes.filter((node) => node.role === 'master' && countSlots(node.slots) > 0);
  const lostNodes = serving.filter((node) => silent.has(node.pod));
  const lostOrphans = orphans.filter((one) => countSlots(one.slots) > 0 && one.unreachable === true);
  const lost = [
    ...lostNodes.map(({ id, pod }) => ({ id, from: pod })),
    ...lostOrphans.map(({ id }) => ({ id, from: id })),
  ];
  const masters = serving.length + lostOrphans.length;
  if ((masters - lost.length) * 2 > masters) return [];
  return lost.flatMap(({ id, from }): Bereft[] => {
    const heir = nodes
      .filter((node) => node.role === 'replica' && node.masterId === id && node.ready)
      .toSorted((a, b) => (b.offset ?? 0) - (a.offset ?? 0))[0];
    return heir === undefined ? [] : [{ shard: heir.shard, from, heir }];
  });
}

/** The change with which a replica is told to ask for votes. */
export const ELECTS_HEIRS = 'valkey-elects-heirs';

/**
 * A replica of a shard whose master is lost and still owns slots: it alone has their data. Until it is elected it
 * follows nobody else, who would give it an empty data set for it.
 */
export const heirOf = ({ nodes, orphans = [] }: ValkeyTopology, shard: number): ValkeyNode | null =>
  nodes.find(
    (node) =>
      node.shard === shard &&
      node.role === 'replica' &&
      orphans.some((orphan) => orphan.id === node.masterId && countSlots(orphan.slots) > 0),
  ) ?? null;

/** What nothing but a person's word may begin, in words; null when there is nothing. */
export function describeHelp(topology: ValkeyTopology): string | null {
  const stuck = stuckPods(topology.pods).find(({ why }) => why === 'lost');
  if (stuck !== undefined)
    return `${stuck.pod.name} is Terminating on ${stuck.node}, which does not answer: see that it is off, then approve its removal`;
  const [bereft] = bereftShards(topology);
  return bereft === undefined
    ? null
    : `no majority of masters is left to elect one for shard ${bereft.shard}: bring them back, or approve that replicas take over`;
}
