import type {
  Container,
  ContainerStateStatus,
  ContainerStatus,
  Pod,
  PodCondition,
  PodStatus,
} from '../api/objects.ts';
import { dateConditions, judgeConditions } from './conditions.ts';
import { selectPhase } from './phase.ts';
import { hasEnded, isSidecar } from './plan.ts';
import { containerIdOf, formatTime } from './record.ts';
import type { ContainerRecord, PodRecord, Termination } from './record.ts';

/** What a pod's status is computed from. */
export interface StatusFacts {
  readonly pod: Pod;
  readonly record: PodRecord;
  readonly hostIP: string;
  /** The conditions as they were last written, for the times of their transitions. */
  readonly previous: readonly PodCondition[];
  /** All containers have stopped and none will start again. */
  readonly over: boolean;
  readonly nowMs: number;
}

/** The status that a node reports for a pod. */
export function buildStatus({ pod, record, hostIP, previous, over, nowMs }: StatusFacts): PodStatus {
  const init = (pod.spec.initContainers ?? []).map((each) => buildContainerStatus(pod, record, each, true));
  const main = pod.spec.containers.map((each) => buildContainerStatus(pod, record, each, false));
  const statuses = new Map([...init, ...main].map((status) => [status.name, status]));
  const failed = record.failure !== undefined;
  const ended = over || hasEnded(pod, record);
  const phase = failed ? 'Failed' : selectPhase(pod, statuses, record.initialized, ended);
  const hasAddress = record.address !== undefined && !over;
  const judged = judgeConditions({ pod, phase, statuses, hasAddress, initialized: record.initialized });
  const { generation } = pod.metadata;
  return {
    phase,
    ...record.failure,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(record.address === undefined ? {} : { podIP: record.address, podIPs: [{ ip: record.address }] }),
    startTime: formatTime(record.startedAtMs),
    conditions: dateConditions(judged, previous, formatTime(nowMs), generation),
    ...(init.length === 0 ? {} : { initContainerStatuses: init }),
    containerStatuses: main,
  };
}

function buildContainerStatus(
  pod: Pod,
  record: PodRecord,
  container: Container,
  isInit: boolean,
): ContainerStatus {
  const own = record.containers[container.name];
  const pending = pod.spec.initContainers?.length && !isInit ? 'PodInitializing' : 'ContainerCreating';
  const state: ContainerStateStatus =
    own === undefined ? { waiting: { reason: pending } } : showState(own, pending);
  const completed = isInit && !isSidecar(container) && state.terminated?.exitCode === 0;
  const id =
    own === undefined || own.attempts === 0
      ? undefined
      : containerIdOf(record.uid, container.name, own.attempts - 1);
  const running = state.running !== undefined;
  return {
    name: container.name,
    image: container.image,
    imageID: own === undefined || own.attempts === 0 ? '' : container.image,
    ...(id === undefined ? {} : { containerID: id }),
    ready: completed || (running && own?.ready === true),
    started: running && own?.started === true,
    restartCount: Math.max((own?.attempts ?? 0) - 1, 0),
    state,
    lastState: own?.last === undefined ? {} : { terminated: showTermination(own.last) },
  };
}

function showState(own: ContainerRecord, pending: string): ContainerStateStatus {
  const { state } = own;
  switch (state.kind) {
    case 'waiting':
      return {
        waiting: { reason: state.reason, ...(state.message === undefined ? {} : { message: state.message }) },
      };
    case 'starting':
      return { waiting: { reason: own.last === undefined ? pending : 'ContainerCreating' } };
    case 'running':
      return { running: { startedAt: formatTime(state.startedAtMs) } };
    case 'terminated':
      return { terminated: showTermination(state) };
  }
}

function showTermination(ended: Termination): NonNullable<ContainerStateStatus['terminated']> {
  return {
    exitCode: ended.exitCode,
    reason: ended.reason,
    ...(ended.message === undefined ? {} : { message: ended.message }),
    startedAt: formatTime(ended.startedAtMs),
    finishedAt: formatTime(ended.finishedAtMs),
    containerID: ended.containerId,
  };
}
