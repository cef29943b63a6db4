import { transition } from '../../shared/transitions.ts';
import type { ValkeyObservation } from './observation.ts';
import { SLOT_COUNT } from './slots.ts';
import { PHASE_TABLE, type Event, type Phase, type PhaseGuard } from './phases.ts';

/** All that the specification's guards judge by. */
export interface PhaseFacts {
  readonly podsRunning: number;
  readonly podsDesired: number;
  readonly nodesReady: number;
  readonly healthy: boolean;
  readonly slotsAssigned: number;
}

/** Reads the guards' facts out of an observation. */
export function phaseFacts(observed: ValkeyObservation): PhaseFacts {
  const { masters, replicasPerMaster } = observed.cluster.spec;
  return {
    podsRunning: observed.pods.filter((pod) => pod.phase === 'Running' && !pod.terminating).length,
    podsDesired: masters * (1 + replicasPerMaster),
    nodesReady: observed.nodes.filter((node) => node.ready && node.linkUp !== false).length,
    healthy: observed.health.ok && observed.health.viewsAgree,
    slotsAssigned: observed.health.slotsAssigned,
  };
}

/** Why a guard refuses, in words; null when it allows. */
export function judgePhaseGuard(guard: PhaseGuard, facts: PhaseFacts): string | null {
  const { podsRunning, podsDesired, nodesReady, healthy, slotsAssigned } = facts;
  switch (guard) {
    case 'AllPodsRunning':
      return podsRunning >= podsDesired ? null : `${podsRunning} of ${podsDesired} pods are Running`;
    case 'HealthyWithAllSlots':
      if (slotsAssigned !== SLOT_COUNT) return `${slotsAssigned} of ${SLOT_COUNT} slots are assigned`;
      return healthy ? null : 'the nodes do not all say that the cluster is ok';
    case 'SomeNodesReady':
      return 0 < nodesReady && nodesReady < podsDesired
        ? null
        : `${nodesReady} of ${podsDesired} nodes are ready`;
    case 'AllNodesReady':
      if (nodesReady < podsDesired) return `${nodesReady} of ${podsDesired} nodes are ready`;
      return judgePhaseGuard('HealthyWithAllSlots', facts);
  }
}

/** Why an event can not move a phase now: the table has no row for it, or its guard refuses. Null when it can. */
export function refusePhaseEvent(phase: Phase, event: Event, facts: PhaseFacts): string | null {
  const outcome = transition(PHASE_TABLE, phase, event);
  if (!outcome.moved) return outcome.refusal;
  const row = [...PHASE_TABLE.specification, ...PHASE_TABLE.ours].find((one) => one === outcome.row);
  return row?.guard === undefined ? null : judgePhaseGuard(row.guard, facts);
}
