import type { ValkeyTopology } from '../../valkey-cluster/domain/topology.ts';

/**
 * Members that serve nothing and that no pod is any more: they fail for ever, until all forget them. Where pods have
 * volumes, one that does not say yet which member it is may still turn out to be one of these: then none counts as lost.
 */
export function lostMembers(
  { orphans = [], pods = [], shards = [], nodes }: ValkeyTopology,
  haveVolumes: boolean,
): readonly string[] {
  const expected = shards.reduce((sum, set) => sum + set.replicas, 0);
  const known = pods.filter((pod) => pod.nodeId !== null && !pod.terminating).length;
  if (haveVolumes && known < expected) return [];
  // No server forgets the master that it follows.
  const isFollowed = (id: string): boolean => nodes.some((node) => node.masterId === id);
  return orphans.filter(({ id, slots }) => slots.length === 0 && !isFollowed(id)).map(({ id }) => id);
}
