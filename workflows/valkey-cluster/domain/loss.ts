import type { ValkeyObservation } from './observation.ts';
import { countSlots, formatRanges, missingRanges } from './slots.ts';

/**
 * The slots that are gone for good, in words; null while anything may still bring them back: a pod that is on its
 * way, a replica that stands for election, or a node that is away with its data.
 */
export function describeLoss(observed: ValkeyObservation): string | null {
  const { cluster, pods, nodes, orphans } = observed;
  const desired = cluster.spec.masters * (1 + cluster.spec.replicasPerMaster);
  const allBack = pods.length >= desired && pods.every((pod) => pod.ready && pod.nodeId !== null);
  if (!allBack) return null;
  const gone = missingRanges(nodes.flatMap((node) => node.slots));
  if (countSlots(gone) === 0) return null;
  const owners = orphans.filter((orphan) => orphan.slots.length > 0);
  const mayReturn = owners.some((owner) => !owner.failed || nodes.some((node) => node.masterId === owner.id));
  if (mayReturn) return null;
  return `slots ${formatRanges(gone)} are served by no node, and no replica or volume of them is left`;
}
