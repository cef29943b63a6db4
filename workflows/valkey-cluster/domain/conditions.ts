import type { Failure } from '../../shared/failure-codes.ts';
import type { Condition } from '../../shared/messages.ts';
import type { Facts } from '../../shared/plan.ts';
import type { ValkeyObservation } from './observation.ts';
import { judgePhaseGuard, phaseFacts } from './phase-guards.ts';
import type { Phase } from './phases.ts';
import { SLOT_COUNT } from './slots.ts';

/** What the conditions and the status are told from. */
export interface ValkeyView {
  readonly observed: ValkeyObservation;
  readonly phase: Phase;
  readonly message: string;
  readonly reason: string;
  readonly operation: { readonly name: string; readonly startedAtMs: number } | null;
  readonly blocked: string | null;
  readonly failure: Failure | null;
  readonly paused: boolean;
  readonly carriedOut: number | null;
  /** How the operation before ended, as far as it is told from. */
  readonly last: { readonly facts: Facts } | null;
}

/** The message of a view; after a cancellation with what was undone. */
export function messageOf({ message, reason, last }: ValkeyView): string {
  const undone = reason === 'OperationCancelled' ? last?.facts['undone'] : undefined;
  return typeof undone === 'string' ? `${message}; undone: ${undone}` : message;
}

/** The specification's four conditions, each with a reason and a sentence. */
export function buildConditions(view: ValkeyView): readonly Condition[] {
  const { generation } = view.observed.cluster;
  return [ready(view), progressing(view), degraded(view), available(view)].map((condition) => ({
    ...condition,
    observedGeneration: generation,
  }));
}

type Said = Omit<Condition, 'observedGeneration'>;

function ready(view: ValkeyView): Said {
  const facts = phaseFacts(view.observed);
  const { nodesReady, podsDesired, slotsAssigned } = facts;
  const type = 'Ready';
  if (view.failure !== null) return say(type, false, view.failure.code, view.failure.message);
  const held = waitingPod(view.observed);
  if (held !== null && nodesReady < podsDesired) return say(type, false, held.reason, held.message);
  if (view.phase === 'Running' && judgePhaseGuard('AllNodesReady', facts) === null) {
    const message = `All ${podsDesired} nodes healthy, ${slotsAssigned}/${SLOT_COUNT} slots assigned`;
    return say(type, true, 'ClusterHealthy', message);
  }
  const reason = view.phase === 'Running' ? 'ClusterUnhealthy' : view.phase;
  return say(
    type,
    false,
    reason,
    `${nodesReady} of ${podsDesired} nodes ready, ${slotsAssigned}/${SLOT_COUNT} slots assigned`,
  );
}

function progressing(view: ValkeyView): Said {
  const type = 'Progressing';
  if (view.operation !== null) {
    return say(type, true, view.phase, view.message || `${view.operation.name} is under way`);
  }
  if (view.blocked !== null) return say(type, false, view.reason, view.blocked);
  if (view.failure !== null) {
    const retries = view.failure.class === 'transient' || view.failure.class === 'notYet';
    return say(type, retries, view.failure.code, view.failure.message);
  }
  if (view.paused) return say(type, false, 'Paused', view.message);
  const { generation } = view.observed.cluster;
  if (view.carriedOut === generation) {
    return say(type, false, 'AsDesired', `generation ${generation} is carried out`);
  }
  return say(type, false, view.reason, messageOf(view) || 'nothing is under way');
}

function degraded(view: ValkeyView): Said {
  const type = 'Degraded';
  if (view.phase === 'Failed') {
    return say(type, true, view.failure?.code ?? 'Failed', view.failure?.message ?? view.message);
  }
  const lacks = judgePhaseGuard('AllNodesReady', phaseFacts(view.observed));
  // Nodes that a newer wish asks for are not missing: they are still to come.
  const complete = view.carriedOut === view.observed.cluster.generation && view.operation === null;
  if (view.phase !== 'Degraded' && (lacks === null || !complete || view.phase === 'Deleting')) {
    return say(type, false, 'NotDegraded', 'no node is missing');
  }
  const { unreachable } = view.observed.health;
  const words = unreachable.slice(0, 3).map(({ pod, why }) => `${pod}: ${why}`);
  return say(type, true, 'NodesMissing', [lacks ?? view.message, ...words].join('; '));
}

function available(view: ValkeyView): Said {
  const type = 'Available';
  const { observed } = view;
  const serving = observed.nodes.filter(
    (node) => node.role === 'master' && node.ready && node.slots.length > 0,
  );
  if (serving.length === 0) return say(type, false, 'NoMasterReady', 'no ready master serves a slot');
  if (!observed.health.ok) {
    return say(type, false, 'ClusterDown', 'nodes say that the cluster is not ok and refuse clients');
  }
  return say(
    type,
    true,
    'MastersServing',
    `${serving.length} of ${observed.cluster.spec.masters} masters serve`,
  );
}

const PULL_FAILURES = ['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull'];

/** What keeps a pod from starting, with the field that mends it where one does. */
export function waitingPod(
  observed: ValkeyObservation,
): { readonly reason: string; readonly message: string } | null {
  const pod = observed.pods.find((one) => !one.ready && one.waiting !== null);
  if (pod === undefined || pod.waiting === null) return null;
  const pull = PULL_FAILURES.find((reason) => pod.waiting?.startsWith(reason));
  if (pull === undefined) return { reason: 'PodNotReady', message: `${pod.name}: ${pod.waiting}` };
  const message = `${pod.name} can not get its image ${pod.image ?? ''}: correct spec.image.repository or spec.image.tag (${pod.waiting})`;
  return { reason: 'ImagePullFailed', message };
}

const say = (type: string, holds: boolean, reason: string, message: string): Said => ({
  type,
  status: holds ? 'True' : 'False',
  reason,
  message,
});
