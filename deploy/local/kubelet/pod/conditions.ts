import type { ContainerStatus, Pod, PodCondition } from '../api/objects.ts';
import type { Phase } from './phase.ts';
import { isSidecar } from './plan.ts';

/** What the conditions of a pod are judged by. */
export interface ConditionFacts {
  readonly pod: Pod;
  readonly phase: Phase;
  readonly statuses: ReadonlyMap<string, ContainerStatus>;
  readonly hasAddress: boolean;
  readonly initialized: boolean;
}

type Judgement = Pick<PodCondition, 'status' | 'reason' | 'message'>;

const holds: Judgement = { status: 'True' };

/** The conditions that a node owns, in the order in which they come true. */
export function judgeConditions(facts: ConditionFacts): ReadonlyMap<string, Judgement> {
  const containers = judgeContainers(facts);
  return new Map([
    ['PodReadyToStartContainers', facts.hasAddress ? holds : { status: 'False' }],
    ['Initialized', judgeInitialized(facts)],
    ['Ready', containers.status === 'True' ? judgeGates(facts.pod) : containers],
    ['ContainersReady', containers],
    ['PodScheduled', holds],
  ]);
}

function judgeInitialized({ pod, phase, statuses, initialized }: ConditionFacts): Judgement {
  if (phase === 'Succeeded') return { status: 'True', reason: 'PodCompleted' };
  if (initialized) return holds;
  const incomplete = (pod.spec.initContainers ?? []).filter((container) => {
    const status = statuses.get(container.name);
    return isSidecar(container) ? status?.started !== true : status?.ready !== true;
  });
  if (incomplete.length === 0) return holds;
  const names = incomplete.map((container) => container.name).join(' ');
  const message = `containers with incomplete status: [${names}]`;
  return { status: 'False', reason: 'ContainersNotInitialized', message };
}

function judgeContainers({ pod, phase, statuses }: ConditionFacts): Judgement {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar);
  const unready = [...sidecars, ...pod.spec.containers].filter(
    (container) => statuses.get(container.name)?.ready !== true,
  );
  if (unready.length === 0) return holds;
  const names = unready.map((container) => container.name).join(' ');
  const message = `containers with unready status: [${names}]`;
  return { status: 'False', reason: 'ContainersNotReady', message };
}

function judgeGates(pod: Pod): Judgement {
  const complaints: string[] = [];
  for (const { conditionType } of pod.spec.readinessGates ?? []) {
    const condition = pod.status?.conditions?.find((each) => each.type === conditionType);
    if (condition === undefined) {
      complaints.push(`corresponding condition of pod readiness gate "${conditionType}" does not exist.`);
    } else if (condition.status !== 'True') {
      complaints.push(
        `the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`,
      );
    }
  }
  if (complaints.length === 0) return holds;
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: complaints.join(', ') };
}

/** Dates each judgement: the time changes only when the status of the condition does. */
export function dateConditions(
  judgements: ReadonlyMap<string, Judgement>,
  previous: readonly PodCondition[],
  now: string,
  generation: number | undefined,
): PodCondition[] {
  return [...judgements].map(([type, judgement]) => {
    const before = previous.find((condition) => condition.type === type);
    const since = before?.status === judgement.status ? before.lastTransitionTime : undefined;
    const observed = generation === undefined ? {} : { observedGeneration: generation };
    return { type, ...judgement, ...observed, lastTransitionTime: since ?? now };
  });
}
