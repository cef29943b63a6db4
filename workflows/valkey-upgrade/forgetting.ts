import { buildAccess, serversOf } from '../valkey-cluster/domain/access.ts';
import type { ValkeyObservation } from '../valkey-cluster/domain/observation.ts';
import { lostMembers } from './domain/lost-members.ts';
import type { ShardRun } from './limits.ts';

/** The change with which an upgrade itself forgets what pods were before they came back as other members. */
const FORGETS_LOST = 'valkey-upgrade-forgets-lost';

/** Makes all members that stay forget these; one of these that still answers is reset first. Who does not answer can do neither. */
export async function forget(
  run: ShardRun,
  { cluster, pods, health }: ValkeyObservation,
  ids: readonly string[],
  summary: string,
): Promise<void> {
  if (ids.length === 0) return;
  const silent = new Set(health.unreachable.map(({ pod }) => pod));
  const members = pods.filter((pod) => pod.nodeId !== null && !silent.has(pod.name));
  await run.port.wait(`${summary} (forgotten)`).forgetValkeyNodes({
    access: buildAccess(cluster),
    servers: serversOf(members.filter((pod) => !ids.includes(pod.nodeId ?? ''))),
    leaving: serversOf(members.filter((pod) => ids.includes(pod.nodeId ?? ''))),
    nodeIds: ids,
  });
}

/**
 * Forgets the member that a pod was before it restarted, and all others that are lost: a cluster in which one of them
 * fails for ever is never stable.
 */
export async function forgetLost(
  run: ShardRun,
  observed: ValkeyObservation,
  summary: string,
  before: { readonly id: string; readonly fresh: boolean } | null = null,
): Promise<void> {
  const replaced =
    before !== null && observed.nodes.every((node) => node.id !== before.id) ? [before.id] : [];
  const lost = new Set([...replaced, ...lostMembers(observed, observed.cluster.spec.persistence.enabled)]);
  if (lost.size === 0) return;
  if (run.port.knows(FORGETS_LOST)) await forget(run, observed, [...lost].toSorted(), summary);
  else if (before?.fresh === true) await forget(run, observed, replaced, summary);
}
