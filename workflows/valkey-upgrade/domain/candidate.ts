import type { ValkeyNode } from '../../valkey-cluster/domain/observation.ts';
import { count } from '../../valkey-cluster/domain/topology.ts';

/** Who is to lead a shard next, and why that one. */
export interface Candidate {
  readonly node: ValkeyNode;
  readonly why: string;
}

/** The replica with the lowest lag; among equals one in the zone of the old master, then the first by name. */
export function selectCandidate(
  replicas: readonly ValkeyNode[],
  master: ValkeyNode | null,
): Candidate | null {
  const lag = (node: ValkeyNode): number =>
    master?.offset === undefined || node.offset === undefined ? 0 : Math.max(0, master.offset - node.offset);
  const isNear = (node: ValkeyNode): boolean => node.zone === master?.zone;
  const ranked = replicas.toSorted(
    (a, b) => lag(a) - lag(b) || Number(isNear(b)) - Number(isNear(a)) || (a.pod < b.pod ? -1 : 1),
  );
  const [best] = ranked;
  if (best === undefined) return null;
  if (ranked.length === 1) return { node: best, why: 'the only replica' };
  const equals = ranked.filter((node) => lag(node) === lag(best));
  const lowest = `the lowest lag of ${count(ranked.length, 'replica')} (${count(lag(best), 'byte')})`;
  if (equals.length === 1) return { node: best, why: lowest };
  const near = equals.filter(isNear);
  const tie =
    near.length === 1
      ? 'in the zone of the old master'
      : near.length === 0 || near.length === equals.length
        ? 'the first by name'
        : 'in the zone of the old master and the first by name';
  return { node: best, why: `${lowest}, ${tie}` };
}
