import type { ValkeyNode, ValkeyObservation } from './observation.ts';
import { countSlots } from './slots.ts';
import { membersOf, ordinalOf, viewShards, type ShardView } from './topology.ts';

/**
 * Who leads each shard. One that serves slots, or is followed, stays; where all nodes are new, masters are spread
 * over machines and zones, so that the loss of one takes as few of them as possible.
 */
export function selectMasters(observed: ValkeyObservation): ReadonlyMap<number, ValkeyNode> {
  const chosen = new Map<number, ValkeyNode>();
  const views = viewShards(observed);
  for (const view of views) {
    const decided = decidedMaster(view);
    if (decided !== null) chosen.set(view.shard, decided);
  }
  for (const view of views.filter((one) => !chosen.has(one.shard))) {
    const taken = [...chosen.values()];
    const load = (node: ValkeyNode): readonly number[] => [
      taken.filter((other) => other.node === node.node).length,
      taken.filter((other) => other.zone === node.zone).length,
      ordinalOf(node) ?? 0,
    ];
    const best = membersOf(view)
      .filter((node) => node.role === 'master' && node.ready)
      .toSorted((a, b) => compare(load(a), load(b)))[0];
    if (best !== undefined) chosen.set(view.shard, best);
  }
  return chosen;
}

function decidedMaster({ master, replicas }: ShardView): ValkeyNode | null {
  if (master === null) return null;
  return countSlots(master.slots) > 0 || replicas.length > 0 ? master : null;
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [at, value] of a.entries()) if (value !== b[at]) return value - (b[at] ?? 0);
  return 0;
}
