import type { Container, ContainerStatus, Pod } from '../api/objects.ts';
import { isSidecar } from './plan.ts';

/** The phase of a pod. */
export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

interface Counts {
  running: number;
  waiting: number;
  stopped: number;
  succeeded: number;
}

/** The phase that follows from the states of the containers, by the rules of the kubelet. */
export function selectPhase(
  pod: Pod,
  statuses: ReadonlyMap<string, ContainerStatus>,
  initialized: boolean,
  over: boolean,
): Phase {
  const policy = pod.spec.restartPolicy ?? 'Always';
  const init = countInit(pod.spec.initContainers ?? [], statuses);
  if (init.failed > 0 && policy === 'Never') return 'Failed';
  if (init.pending > 0 || (init.pendingSidecars > 0 && !initialized)) return over ? 'Failed' : 'Pending';
  const counts = countMain(pod.spec.containers, statuses);
  if (counts.waiting > 0) return over ? 'Failed' : 'Pending';
  if (counts.running > 0) return 'Running';
  const allSucceeded = counts.stopped === counts.succeeded;
  if (over) return allSucceeded ? 'Succeeded' : 'Failed';
  if (policy === 'Always') return 'Running';
  if (allSucceeded) return 'Succeeded';
  return policy === 'Never' ? 'Failed' : 'Running';
}

function countInit(
  containers: readonly Container[],
  statuses: ReadonlyMap<string, ContainerStatus>,
): { pending: number; pendingSidecars: number; failed: number } {
  const counts = { pending: 0, pendingSidecars: 0, failed: 0 };
  for (const container of containers) {
    const status = statuses.get(container.name);
    const ended = status?.state.terminated ?? (status?.state.waiting && status.lastState.terminated);
    if (isSidecar(container)) {
      if (ended === undefined && status?.started !== true) counts.pendingSidecars += 1;
    } else if (ended === undefined) counts.pending += 1;
    else if (ended.exitCode !== 0) counts.failed += 1;
  }
  return counts;
}

function countMain(containers: readonly Container[], statuses: ReadonlyMap<string, ContainerStatus>): Counts {
  const counts: Counts = { running: 0, waiting: 0, stopped: 0, succeeded: 0 };
  for (const container of containers) {
    const status = statuses.get(container.name);
    if (status?.state.running !== undefined) counts.running += 1;
    else if (status?.state.terminated !== undefined) {
      counts.stopped += 1;
      if (status.state.terminated.exitCode === 0) counts.succeeded += 1;
    } else if (status?.lastState.terminated !== undefined) counts.stopped += 1;
    else counts.waiting += 1;
  }
  return counts;
}
