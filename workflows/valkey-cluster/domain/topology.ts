import type { Holding } from './balance.ts';
import type {
  ValkeyHealth,
  ValkeyNode,
  ValkeyOrphan,
  ValkeyPod,
  ValkeySecrets,
  ValkeyShardSet,
} from './observation.ts';
import { countSlots, joinRanges } from './slots.ts';

/** What a plan is made from: an observation, or the nodes alone where nothing else is at hand. */
export interface ValkeyTopology {
  readonly nodes: readonly ValkeyNode[];
  readonly shards?: readonly ValkeyShardSet[];
  readonly pods?: readonly ValkeyPod[];
  readonly orphans?: readonly ValkeyOrphan[];
  readonly health?: ValkeyHealth;
  readonly secrets?: ValkeySecrets;
}

/** One shard as it is found. */
export interface ShardView {
  readonly shard: number;
  /** The node that serves the shard's slots, or is to; null while there is none but replicas. */
  readonly master: ValkeyNode | null;
  /** Nodes that follow that master. */
  readonly replicas: readonly ValkeyNode[];
  /** Nodes that belong here by their pod and follow another master, or none. */
  readonly strays: readonly ValkeyNode[];
  /** How many pods the shard is meant to have now. */
  readonly pods: number;
}

/** Every shard that has a node or a StatefulSet, by number. */
export function viewShards(topology: ValkeyTopology): readonly ShardView[] {
  const nodes = Map.groupBy(topology.nodes, (node) => node.shard);
  const sets = new Map((topology.shards ?? []).map((set) => [set.shard, set]));
  return [...new Set([...nodes.keys(), ...sets.keys()])]
    .toSorted((a, b) => a - b)
    .map((shard) => viewShard(shard, nodes.get(shard) ?? [], sets.get(shard)));
}

/** What each shard serves, all its nodes together. */
export const holdingsOf = (views: readonly ShardView[]): readonly Holding[] =>
  views.map((view) => ({
    shard: view.shard,
    ranges: joinRanges(membersOf(view).flatMap((node) => node.slots)),
  }));

/** The nodes that a StatefulSet of this many pods keeps: all of them, unless it is to shrink. */
export function keptNodes(view: ShardView, pods: number): readonly ValkeyNode[] {
  const nodes = membersOf(view);
  if (view.pods <= pods) return nodes;
  return nodes.filter((node, rank) => (ordinalOf(node) ?? rank) < pods);
}

/** All nodes of a shard, in the order of their pods. */
export const membersOf = (view: ShardView): readonly ValkeyNode[] =>
  [...(view.master === null ? [] : [view.master]), ...view.replicas, ...view.strays].toSorted(byPod);

/** The place of a pod in its StatefulSet; null when its name is not one that we gave. */
export function ordinalOf(node: Pick<ValkeyNode, 'pod' | 'shard'>): number | null {
  const match = /-(\d+)-(\d+)$/.exec(node.pod);
  return match !== null && Number(match[1]) === node.shard ? Number(match[2]) : null;
}

/** `shard 3`, `shards 3 and 4`, `shards 1, 2 and 5`. */
export function nameShards(shards: readonly number[]): string {
  const last = shards.at(-1);
  if (shards.length <= 1) return `shard ${last ?? 'none'}`;
  if (shards.length > 6) return `${shards.length} shards`;
  return `shards ${shards.slice(0, -1).join(', ')} and ${last}`;
}

/** `1 replica`, `3 replicas`. */
export const count = (of: number, noun: string): string => `${of} ${noun}${of === 1 ? '' : 's'}`;

function viewShard(shard: number, of: readonly ValkeyNode[], set: ValkeyShardSet | undefined): ShardView {
  const nodes = of.toSorted(byPod);
  const serving = nodes
    .filter((node) => node.role === 'master' && countSlots(node.slots) > 0)
    .toSorted((a, b) => countSlots(b.slots) - countSlots(a.slots))[0];
  const followed = serving ?? followedMaster(nodes);
  const follows = (node: ValkeyNode): boolean =>
    followed !== undefined && node.role === 'replica' && node.masterId === followed.id;
  return {
    shard,
    master: followed ?? null,
    replicas: nodes.filter(follows),
    strays: nodes.filter((node) => node !== followed && !follows(node)),
    pods: set?.replicas ?? countPods(nodes),
  };
}

/** Where no StatefulSet was observed, the pods' names tell how many it makes, also when one is away. */
const countPods = (nodes: readonly ValkeyNode[]): number =>
  Math.max(nodes.length, ...nodes.map((node) => 1 + (ordinalOf(node) ?? 0)));

/** Before it serves slots, a shard's master is the one that others already follow, or else the first. */
const followedMaster = (nodes: readonly ValkeyNode[]): ValkeyNode | undefined =>
  nodes.find(
    (node) => node.role === 'master' && nodes.some((other) => other.masterId === node.id && other !== node),
  ) ?? nodes.find((node) => node.role === 'master');

const byPod = (a: ValkeyNode, b: ValkeyNode): number =>
  (ordinalOf(a) ?? 0) - (ordinalOf(b) ?? 0) ||
  (a.pod < b.pod ? -1 : a.pod > b.pod ? 1 : a.id < b.id ? -1 : 1);
