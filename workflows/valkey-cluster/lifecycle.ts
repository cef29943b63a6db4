import type { Lifecycle, Remembered, View } from '../shared/lifecycle.ts';
import { KIND, LIFECYCLE, type ValkeyTypes } from './contract.ts';
import type { ValkeyPlan } from './domain/commands.ts';
import { buildConditions } from './domain/conditions.ts';
import { GUARDS } from './domain/guards.ts';
import { describeLoss } from './domain/loss.ts';
import { CLOSES_SLOTS } from './domain/open-slots.ts';
import { hashesOf } from './domain/manifests.ts';
import type { ValkeyObservation } from './domain/observation.ts';
import { REBALANCE_ANNOTATION } from './domain/names.ts';
import { refusePhaseEvent, phaseFacts } from './domain/phase-guards.ts';
import { PHASE_TABLE, type Event, type Phase } from './domain/phases.ts';
import { planValkeyCluster } from './domain/plan.ts';
import { MOVES_TOGETHER } from './domain/plan-slots.ts';
import { describeHelp, ELECTS_HEIRS } from './domain/rescue.ts';
import { countSlots, missingRanges, SLOT_COUNT } from './domain/slots.ts';
import { buildStatus } from './domain/status.ts';
import { count } from './domain/topology.ts';
import { identityOf } from './performers.ts';
import { holdVersion, versionsDiffer } from '../valkey-upgrade/domain/judgement.ts';
import { PRE_CHECKS } from '../valkey-upgrade/domain/pre-checks.ts';
import {
  answersCancel,
  recordWaiting,
  servedUpgrade,
  upgradeConditions,
} from '../valkey-upgrade/domain/waiting.ts';
import { planWithUpgrades, wishOf } from '../valkey-upgrade/domain/wish.ts';
import { writeUpgrade } from '../valkey-upgrade/upgrade-log.ts';

/** The operations that there are workflows for, by the name that plans give them. */
const OPERATIONS: Readonly<Record<string, string>> = {
  create: 'createValkeyCluster',
  heal: 'healValkeyCluster',
  'scale-up': 'scaleUpValkeyCluster',
  'scale-down': 'scaleDownValkeyCluster',
  'change-replicas': 'changeValkeyReplicas',
  scale: 'scaleValkeyCluster',
  rebalance: 'rebalanceValkeyCluster',
  restart: 'restartValkeyCluster',
  rotate: 'rotateValkeySecrets',
  upgrade: 'upgradeValkeyCluster',
  rollback: 'rollBackValkeyCluster',
  delete: 'deleteValkeyCluster',
};

/** Phases in which slots may be on their way; a superseded or cancelled change is left in the last of them. */
const MOVING: ReadonlySet<string> = new Set<Phase>([
  'RebalancingSlots',
  'EvacuatingSlots',
  'VerifyingClusterHealth',
]);

/** A sharded Valkey cluster, all of its life. */
export const valkeyLifecycle: Lifecycle<ValkeyTypes> = {
  name: LIFECYCLE,
  kind: KIND,
  initialPhase: 'Pending',
  table: PHASE_TABLE,
  events: {
    failed: 'ReconcileError',
    recovered: 'RecoveryInitiated',
    superseded: 'SpecChanged',
    cancelled: 'RecoveryInitiated',
  },
  guards: [...GUARDS, ...PRE_CHECKS],
  operations: OPERATIONS,
  async observe(port, ref) {
    const observed = await port.act('what is there').observeValkeyCluster(ref);
    return observed === null ? null : holdVersion(observed);
  },
  served: ({ cluster, ...observed }) => ({
    kind: KIND,
    uid: cluster.uid,
    generation: cluster.generation,
    deleting: cluster.deleting,
    phase: cluster.phase,
    carriedOut: cluster.observedGeneration === 0 ? null : cluster.observedGeneration,
    approvals: cluster.spec.approvals === 'Irreversible' || describeHelp(observed) !== null,
  }),
  serves: servedUpgrade,
  answersCancel,
  plan: (observed, remembered) =>
    planWithUpgrades(observed, remembered.carriedOut, planObserved(observed, remembered)),
  settle: settlePhase,
  lost(observed, { carriedOut }) {
    if (carriedOut === null || observed.cluster.deleting) return null;
    const message = describeLoss(observed);
    return message === null ? null : { code: 'ValkeyDataLost', class: 'permanent', message };
  },
  summary: summarise,
  conditions: (view) => [...buildConditions(view), ...upgradeConditions(view)],
  async report(port, view) {
    await port.act(`status: ${view.phase}`).writeKubernetesStatus({
      resource: identityOf(view.observed),
      status: buildStatus(view),
      conditions: [...buildConditions(view), ...upgradeConditions(view)],
    });
    const records = recordWaiting(view);
    const silent = view.reason === 'OperationCancelled' && records.length > 0 && !port.knows(TELLS_CANCELLED);
    for (const { upgrade, record } of silent ? [] : records) await writeUpgrade(port, upgrade, record);
  },
  async announce(port, view: View<ValkeyTypes>, news) {
    await port
      .act(`event: ${news.reason}`)
      .recordKubernetesEvent({ resource: identityOf(view.observed), ...news });
  },
};

/** The change with which the upgrades of a cluster are told what they wait for after a cancellation too. */
const TELLS_CANCELLED = 'tells-cancelled-upgrades';

/** Slots that a cluster lacks are unassigned only before its first wish was carried out; after that they are lost. */
function planObserved(observed: ValkeyObservation, { carriedOut, knows }: Remembered): ValkeyPlan {
  const { cluster } = observed;
  return planValkeyCluster(
    observed,
    {
      masters: cluster.spec.masters,
      replicasPerMaster: cluster.spec.replicasPerMaster,
      deleting: cluster.deleting,
      // What an upgrade left with different versions is not restarted for that.
      ...(versionsDiffer(observed) ? {} : (observed.intended ?? hashesOf(cluster))),
    },
    {
      formed: carriedOut !== null || servesAllSlots(observed),
      rebalance: wasInterrupted(observed, carriedOut) || asksForRebalance(cluster),
      closeSlots: knows(CLOSES_SLOTS),
      elects: knows(ELECTS_HEIRS),
      jobsInTurn: !knows(MOVES_TOGETHER),
    },
  );
}

/** A creation that has given all slots away is over, although a newer wish came before it could be said. */
const servesAllSlots = ({ nodes }: ValkeyObservation): boolean =>
  missingRanges(nodes.flatMap((node) => node.slots)).length === 0;

/**
 * Whether a change of masters was left half-way: its wish is not carried out, and it was in the middle of it, or some
 * shard holds far less than its share. An uneven cluster that nobody asked to change is left as it is.
 */
function wasInterrupted({ cluster, nodes }: ValkeyObservation, carriedOut: number | null): boolean {
  if (carriedOut === null || carriedOut === cluster.generation) return false;
  const held = nodes.filter((node) => node.role === 'master').map((node) => countSlots(node.slots));
  const little = SLOT_COUNT / cluster.spec.masters / 2;
  return MOVING.has(cluster.phase ?? '') || held.some((slots) => 0 < slots && slots < little);
}

/** Whether somebody asks for even shares and has not got them yet; they are given once, and never from drift. */
const asksForRebalance = ({ annotations, rebalancedFor }: ValkeyObservation['cluster']): boolean => {
  const asked = annotations[REBALANCE_ANNOTATION];
  return asked !== undefined && asked !== rebalancedFor;
};

/** While nothing is done, a cluster is what it is found to be. Pods that an open wish would add or take are not missing. */
function settlePhase(
  observed: ValkeyObservation,
  phase: Phase,
  { carriedOut }: { readonly carriedOut: number | null },
): readonly Event[] {
  const asWished = phaseFacts(observed);
  const open = carriedOut !== observed.cluster.generation;
  const facts = open ? { ...asWished, podsDesired: observed.pods.length } : asWished;
  const events = ['ClusterHealthy', 'ReplicasDegraded'] as const;
  const event = events.find((one) => refusePhaseEvent(phase, one, facts) === null);
  return event === undefined ? [] : [event];
}

/** `create: 3 masters with 1 replica each on valkey/valkey:9.1.2`, `upgrade: 3 masters with 1 replica each from 9.0.0 to 9.1.2`. */
function summarise(observed: ValkeyObservation, { operation }: ValkeyPlan): string {
  const { cluster } = observed;
  const { masters, replicasPerMaster, image } = cluster.spec;
  if (operation === 'delete') return `delete: ${cluster.namespace}/${cluster.name}`;
  const shape = `${masters} masters with ${count(replicasPerMaster, 'replica')} each`;
  const wish = operation === 'upgrade' || operation === 'rollback' ? wishOf(observed) : null;
  if (wish === null) return `${operation}: ${shape} on ${image.repository}:${image.tag}`;
  const { from, to } = wish;
  return operation === 'upgrade'
    ? `upgrade: ${shape} from ${from} to ${to}`
    : `rollback: ${shape} from ${to} back to ${from}`;
}
