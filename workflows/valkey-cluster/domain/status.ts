import type { Json } from '../../shared/plan.ts';
import { messageOf, type ValkeyView } from './conditions.ts';
import { clientServiceName, CLIENT_PORT, podSelector, REBALANCE_ANNOTATION } from './names.ts';
import type { ValkeyNode, ValkeyObservation } from './observation.ts';
import { phaseFacts } from './phase-guards.ts';
import { tlsSecretName } from './pod-template.ts';
import { formatRanges, SLOT_COUNT } from './slots.ts';

/** Everything in the status but the conditions, whose times only their writer knows. */
export function buildStatus(view: ValkeyView): Readonly<Record<string, Json>> {
  const { observed, phase, operation } = view;
  const { cluster, nodes } = observed;
  const facts = phaseFacts(observed);
  const ready = nodes.filter((node) => node.ready && node.linkUp !== false);
  const message = messageOf(view) || summarise(view);
  return {
    phase,
    message,
    summary: summarise(view),
    // The newest generation that was carried out: equal to the resource's own, there is nothing to do.
    ...(view.carriedOut === null ? {} : { observedGeneration: view.carriedOut }),
    ...rebalanceStatus(view),
    readyNodes: `${facts.nodesReady}/${facts.podsDesired}`,
    readyMasters: ready.filter((node) => node.role === 'master' && node.slots.length > 0).length,
    readyReplicas: ready.filter((node) => node.role === 'replica').length,
    assignedSlots: `${facts.slotsAssigned}/${SLOT_COUNT}`,
    selector: podSelector(cluster.name),
    connectionEndpoint: `${clientServiceName(cluster.name)}.${cluster.namespace}.svc:${CLIENT_PORT}`,
    ...(cluster.spec.auth === undefined ? {} : { connectionSecret: cluster.spec.auth.secretRef.name }),
    ...tlsStatus(observed),
    ...versionStatus(nodes),
    topology: { masters: topology(nodes) },
    ...(operation === null
      ? {}
      : {
          currentOperation: operation.name,
          operationStartedAt: isoTime(operation.startedAtMs),
        }),
    ...(view.failure === null ? {} : { lastError: `${view.failure.code}: ${view.failure.message}` }),
  };
}

function summarise({ observed, phase }: ValkeyView): string {
  const { nodesReady, podsDesired, slotsAssigned } = phaseFacts(observed);
  return `${phase}: ${nodesReady}/${podsDesired} nodes ready, ${slotsAssigned}/${SLOT_COUNT} slots assigned`;
}

/** A rebalance that was asked for is over when nothing is left to do; until then the status keeps what it says. */
function rebalanceStatus({ observed, reason }: ValkeyView): Readonly<Record<string, Json>> {
  const { annotations, rebalancedFor } = observed.cluster;
  const value = reason === 'Settled' ? annotations[REBALANCE_ANNOTATION] : rebalancedFor;
  return typeof value === 'string' ? { rebalancedFor: value } : {};
}

function tlsStatus({ cluster }: ValkeyObservation): Readonly<Record<string, Json>> {
  const secret = tlsSecretName(cluster);
  return secret === null ? {} : { tlsSecret: secret };
}

/** One version when all run the same, else all of them: an upgrade is under way. */
function versionStatus(nodes: readonly ValkeyNode[]): Readonly<Record<string, Json>> {
  const versions = [...new Set(nodes.flatMap((node) => node.version ?? []))].toSorted();
  return versions.length === 0 ? {} : { valkeyVersion: versions.join(', ') };
}

/** The specification's topology: masters by shard, each with its slots and the replicas that follow it. */
function topology(nodes: readonly ValkeyNode[]): readonly Json[] {
  return nodes
    .filter((node) => node.role === 'master')
    .toSorted((a, b) => a.shard - b.shard || (a.pod < b.pod ? -1 : 1))
    .map((master) => ({
      nodeId: master.id,
      podName: master.pod,
      shard: master.shard,
      slotRanges: master.slots.map((range) => formatRanges([range])),
      replicas: nodes
        .filter((node) => node.masterId === master.id)
        .map((replica) => ({
          nodeId: replica.id,
          podName: replica.pod,
          ...lagOf(master, replica),
        })),
    }));
}

/** Bytes that the replica has not acknowledged, as far as both sides were seen at nearly the same moment. */
function lagOf(master: ValkeyNode, replica: ValkeyNode): Readonly<Record<string, Json>> {
  if (master.offset === undefined || replica.offset === undefined) return {};
  return { replicationLag: Math.max(0, master.offset - replica.offset) };
}

/** A time as Kubernetes writes it, in whole seconds. */
const isoTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
