/** How many bits are set, for masks of up to eight nodes. */
export const BIT_COUNT = Uint8Array.from({ length: 256 }, (_, value) => {
  let count = 0;
  for (let rest = value; rest > 0; rest &= rest - 1) count += 1;
  return count;
});

/** Reads a typed array where the index is known to be inside. */
export const at = (array: Int32Array | Uint8Array, index: number): number => array[index] as number;

export const count = (mask: number): number => BIT_COUNT[mask & 255] as number;

/** Every partition of so many nodes into groups, one label a node, in the order of first appearance. */
export function partitionsOf(nodes: number): readonly Uint8Array[] {
  const found: Uint8Array[] = [];
  const labels = new Uint8Array(nodes);
  const extend = (node: number, used: number): void => {
    if (node === nodes) {
      found.push(labels.slice());
      return;
    }
    for (let label = 0; label <= used; label += 1) {
      labels[node] = label;
      extend(node + 1, Math.max(used, label + 1));
    }
  };
  extend(0, 0);
  return found;
}

/** Bits of a mask as node numbers. */
export const nodesIn = (mask: number): readonly number[] =>
  Array.from({ length: count(mask) }, (_, nth) => {
    let rest = mask;
    for (let skip = 0; skip < nth; skip += 1) rest &= rest - 1;
    return 31 - Math.clz32(rest & -rest);
  });
