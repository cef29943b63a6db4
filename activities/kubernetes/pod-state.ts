import type { PodSeen } from './contract.ts';
import type { ContainerStatus, Pod } from './objects.ts';

/** Whether the pod's own condition says Ready. */
export const isReady = (pod: Pod): boolean =>
  pod.status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ??
  false;

/** Whether the pod's containers run and have an address; what they serve may still load. */
export const isRunning = (pod: Pod): boolean =>
  pod.status?.phase === 'Running' &&
  pod.status.podIP !== undefined &&
  pod.metadata.deletionTimestamp === undefined;

/** Why the pod is not ready, in the words of the scheduler or the kubelet; null when it is or nobody has said. */
export function waitingWords(pod: Pod): string | null {
  if (pod.metadata.deletionTimestamp !== undefined) return 'is being deleted';
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  for (const status of statuses) {
    const words = containerWords(status);
    if (words !== null) return words;
  }
  const scheduled = pod.status?.conditions?.find((condition) => condition.type === 'PodScheduled');
  if (scheduled?.status === 'False') return join(scheduled.reason ?? 'Unschedulable', scheduled.message);
  if (isReady(pod)) return null;
  if (statuses.some((status) => status.restartCount > 0)) return 'is not ready after a restart';
  return null;
}

function containerWords(status: ContainerStatus): string | null {
  const { waiting, terminated } = status.state ?? {};
  if (
    waiting?.reason !== undefined &&
    waiting.reason !== 'ContainerCreating' &&
    waiting.reason !== 'PodInitializing'
  )
    return join(waiting.reason, waiting.message);
  if (terminated !== undefined && terminated.exitCode !== 0)
    return join(terminated.reason ?? 'Error', terminated.message ?? `exit code ${terminated.exitCode}`);
  return null;
}

const join = (reason: string, message: string | undefined): string =>
  message === undefined || message === '' ? reason : `${reason}: ${message}`;

/** The pod as a wait reports it. */
export const podSeen = (pod: Pod): PodSeen => ({
  name: pod.metadata.name,
  uid: pod.metadata.uid,
  ip: pod.status?.podIP ?? null,
  node: pod.spec.nodeName ?? null,
  ready: isReady(pod) && pod.metadata.deletionTimestamp === undefined,
  waiting: waitingWords(pod),
});
