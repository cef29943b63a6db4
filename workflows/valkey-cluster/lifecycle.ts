import { blocked, allowed, type Guard } from '../shared/guards.ts';
import type { Lifecycle, View } from '../shared/lifecycle.ts';
import { KIND, LIFECYCLE, type ValkeyTypes } from './contract.ts';
import type { ValkeyCommand, ValkeyPlan } from './domain/commands.ts';
import { buildConditions } from './domain/conditions.ts';
import { GUARDS } from './domain/guards.ts';
import { describeLoss } from './domain/loss.ts';
import { appliedHash } from './domain/manifests.ts';
import type { ValkeyObservation } from './domain/observation.ts';
import { refusePhaseEvent, phaseFacts } from './domain/phase-guards.ts';
import { PHASE_TABLE, type Event, type Phase } from './domain/phases.ts';
import { planValkeyCluster } from './domain/plan.ts';
import { templateHash } from './domain/pod-template.ts';
import { buildStatus } from './domain/status.ts';
import { identityOf } from './performers.ts';

/** The operations that there are workflows for, by the name that plans give them. */
const OPERATIONS: Readonly<Record<string, string>> = {
  create: 'createValkeyCluster',
  heal: 'healValkeyCluster',
  delete: 'deleteValkeyCluster',
};

const PERFORMED: ReadonlySet<ValkeyCommand['kind']> = new Set([
  'CreateShard',
  'AwaitPods',
  'MeetNode',
  'AssignSlots',
  'AttachReplica',
  'ForgetNode',
  'RemoveShard',
  'RestartPod',
  'VerifyHealth',
]);

/** A plan may be shown before this version can carry it out: it then waits, and says so. */
const performed: Guard<ValkeyObservation, ValkeyCommand> = {
  name: 'Performed',
  judge(_, plan, step) {
    if (step !== null || plan.steps.length === 0) return allowed;
    const strange = plan.steps.find(({ kind }) => !PERFORMED.has(kind));
    return OPERATIONS[plan.operation] !== undefined && strange === undefined
      ? allowed
      : blocked(
          `${plan.operation} is planned, but this version does not carry it out yet: set the spec back, or do it by hand`,
        );
  },
};

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
  guards: [...GUARDS, performed],
  operations: OPERATIONS,
  observe: (port, ref) => port.act('what is there').observeValkeyCluster(ref),
  served: ({ cluster }) => ({
    kind: KIND,
    uid: cluster.uid,
    generation: cluster.generation,
    deleting: cluster.deleting,
    phase: cluster.phase,
    carriedOut: cluster.observedGeneration === 0 ? null : cluster.observedGeneration,
    approvals: cluster.spec.approvals === 'Irreversible',
  }),
  plan: (observed, { carriedOut }) => planObserved(observed, carriedOut),
  settle: settlePhase,
  lost(observed, { carriedOut }) {
    if (carriedOut === null || observed.cluster.deleting) return null;
    const message = describeLoss(observed);
    return message === null ? null : { code: 'ValkeyDataLost', class: 'permanent', message };
  },
  summary: summarise,
  conditions: buildConditions,
  async report(port, view) {
    await port.act(`status: ${view.phase}`).writeKubernetesStatus({
      resource: identityOf(view.observed),
      status: buildStatus(view),
      conditions: buildConditions(view),
    });
  },
  async announce(port, view: View<ValkeyTypes>, news) {
    await port
      .act(`event: ${news.reason}`)
      .recordKubernetesEvent({ resource: identityOf(view.observed), ...news });
  },
};

/** Slots that a cluster lacks are unassigned only before its first wish was carried out; after that they are lost. */
function planObserved(observed: ValkeyObservation, carriedOut: number | null): ValkeyPlan {
  const { cluster } = observed;
  return planValkeyCluster(
    observed,
    {
      masters: cluster.spec.masters,
      replicasPerMaster: cluster.spec.replicasPerMaster,
      deleting: cluster.deleting,
      templateHash: templateHash(cluster),
      appliedHash: appliedHash(cluster),
    },
    { formed: carriedOut !== null },
  );
}

/** With nothing to do, a cluster is what it is found to be. */
function settlePhase(observed: ValkeyObservation, phase: Phase): readonly Event[] {
  const facts = phaseFacts(observed);
  const events = ['ClusterHealthy', 'ReplicasDegraded'] as const;
  const event = events.find((one) => refusePhaseEvent(phase, one, facts) === null);
  return event === undefined ? [] : [event];
}

/** `create: 3 masters with 1 replica each on valkey/valkey:9.1.2`. */
function summarise({ cluster }: ValkeyObservation, plan: ValkeyPlan): string {
  const { masters, replicasPerMaster, image } = cluster.spec;
  const replicas = `${replicasPerMaster} replica${replicasPerMaster === 1 ? '' : 's'} each`;
  const goal = `${masters} masters with ${replicas} on ${image.repository}:${image.tag}`;
  return plan.operation === 'delete'
    ? `delete: ${cluster.namespace}/${cluster.name}`
    : `${plan.operation}: ${goal}`;
}
