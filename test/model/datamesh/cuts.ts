import { partitionsOf } from './bits.ts';
import { FULL_GRAPH } from './machine.ts';

/** By dead node, every partition that cuts the others: one for each, that in which the dead one is alone. */
export function partitionsByDead(nodes: number, halves: boolean): readonly (readonly Uint8Array[])[] {
  const all = partitionsOf(nodes);
  const cutting = (dead: number): readonly Uint8Array[] =>
    all.filter((labels) => {
      const groups = new Set(labels.filter((_, node) => node !== dead)).size;
      const apart = labels.every((label, node) => node === dead || label !== labels[dead]);
      return apart && groups > 1 && (!halves || groups === 2);
    });
  return Array.from({ length: nodes + 1 }, (_, dead) => cutting(dead));
}

/** Every connection graph of so many nodes but the full one. */
export function graphsOf(nodes: number): Int32Array {
  const edges = (nodes * (nodes - 1)) / 2;
  const rest = FULL_GRAPH & ~((1 << edges) - 1);
  return Int32Array.from({ length: (1 << edges) - 1 }, (_, mask) => mask | rest);
}
