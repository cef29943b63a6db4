import type { Container, Pod, RestartPolicy } from '../api/objects.ts';
import { selectRestartTime } from './back-off.ts';
import type { BackOff } from './back-off.ts';
import type { ContainerRecord, PodRecord, Termination } from './record.ts';

/** One thing that the node should do now for a pod. */
export type PodAction =
  | { readonly kind: 'prepare' }
  | { readonly kind: 'start'; readonly container: Container }
  | {
      readonly kind: 'stop';
      readonly container: Container;
      readonly graceMs: number;
      readonly reason: string;
    }
  | { readonly kind: 'backOff'; readonly container: Container; readonly untilMs: number }
  | { readonly kind: 'fail'; readonly reason: string; readonly message: string }
  /** Nothing runs any more and the pod is to go: release everything and let the object be deleted. */
  | { readonly kind: 'finish' };

/** What to do now, and when to look again if nothing happens before. */
export interface PodPlan {
  readonly actions: readonly PodAction[];
  readonly wakeAtMs?: number;
}

/** The pod as the API has it and as the node knows it. */
export interface PodView {
  readonly pod: Pod;
  /** The object no longer exists. */
  readonly gone: boolean;
  readonly record: PodRecord;
  readonly backOff: BackOff;
  readonly nowMs: number;
}

/** Decides the next actions for a pod: the whole of its behaviour, without doing any of it. */
export function planPod(view: PodView): PodPlan {
  if (isDeleting(view) || hasEnded(view.pod, view.record)) return planStop(view);
  const deadlineMs = deadlineOf(view);
  if (deadlineMs !== undefined && view.nowMs >= deadlineMs) {
    const message = 'Pod was active on the node longer than the specified deadline';
    return { actions: [{ kind: 'fail', reason: 'DeadlineExceeded', message }] };
  }
  if (!view.record.prepared) return withWake([{ kind: 'prepare' }], [deadlineMs]);
  return planRun(view, deadlineMs);
}

/** Whether the pod is on its way out for good. */
function isDeleting({ pod, gone }: PodView): boolean {
  return gone || pod.metadata.deletionTimestamp !== undefined;
}

/** Whether the pod has done all that it will ever do. */
export function hasEnded(pod: Pod, record: PodRecord): boolean {
  if (record.failure !== undefined || record.alreadyEnded === true) return true;
  const initFailed = (pod.spec.initContainers ?? []).some((container) => {
    const state = record.containers[container.name]?.state;
    return (
      !isSidecar(container) &&
      !record.initialized &&
      state?.kind === 'terminated' &&
      endedForGood(pod, container, state, true)
    );
  });
  if (initFailed) return true;
  return (
    record.initialized &&
    pod.spec.containers.every((container) => {
      const state = record.containers[container.name]?.state;
      return state?.kind === 'terminated' && endedForGood(pod, container, state, false);
    })
  );
}

/** An init container that runs beside the main ones. */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

function endedForGood(pod: Pod, container: Container, ended: Termination, isInit: boolean): boolean {
  const policy: RestartPolicy = container.restartPolicy ?? pod.spec.restartPolicy ?? 'Always';
  if (isInit) return ended.exitCode !== 0 && policy === 'Never';
  return policy === 'Never' || (policy === 'OnFailure' && ended.exitCode === 0);
}

function deadlineOf({ pod, record }: PodView): number | undefined {
  const seconds = pod.spec.activeDeadlineSeconds;
  return seconds === undefined ? undefined : record.startedAtMs + seconds * 1000;
}

function graceOf({ pod }: PodView): number {
  const { deletionGracePeriodSeconds } = pod.metadata;
  const seconds = deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30;
  return Math.max(seconds, 1) * 1000;
}

/** Main containers stop together, then sidecars one by one from the last, all within one grace period. */
function planStop(view: PodView): PodPlan {
  const { pod, record, nowMs } = view;
  const sinceMs = record.stopSinceMs ?? nowMs;
  const graceMs = Math.max(graceOf(view) - (nowMs - sinceMs), 0);
  const init = pod.spec.initContainers ?? [];
  const groups = [
    [...pod.spec.containers, ...init.filter((container) => !isSidecar(container))],
    ...init
      .filter(isSidecar)
      .map((container) => [container])
      .reverse(),
  ];
  for (const group of groups) {
    const alive = group.filter((container) => isAlive(record.containers[container.name]));
    if (alive.length === 0) continue;
    const actions = alive
      .filter((container) => record.containers[container.name]?.state.kind === 'running')
      .map((container) => ({ kind: 'stop' as const, container, graceMs, reason: 'Stopping container' }));
    return { actions };
  }
  return { actions: isDeleting(view) ? [{ kind: 'finish' }] : [] };
}

function isAlive(record: ContainerRecord | undefined): boolean {
  return record?.state.kind === 'running' || record?.state.kind === 'starting';
}

function planRun(view: PodView, deadlineMs: number | undefined): PodPlan {
  const actions: PodAction[] = [];
  const wakes: (number | undefined)[] = [deadlineMs];
  const consider = (container: Container): void => {
    const next = planContainer(view, container);
    if (next.action !== undefined) actions.push(next.action);
    wakes.push(next.wakeAtMs);
  };
  for (const container of view.pod.spec.initContainers ?? []) {
    const record = view.record.containers[container.name];
    if (!isSidecar(container) && (view.record.initialized || isDone(record))) continue;
    consider(container);
    const passed = isSidecar(container) && record?.state.kind === 'running' && record.started;
    if (!passed && !view.record.initialized) return withWake(actions, wakes);
  }
  for (const container of view.pod.spec.containers) consider(container);
  return withWake(actions, wakes);
}

function isDone(record: ContainerRecord | undefined): boolean {
  return record?.state.kind === 'terminated' && record.state.exitCode === 0;
}

/** Whether all init containers have done their part, so that the main ones may start. */
export function hasInitialized(pod: Pod, record: PodRecord): boolean {
  return (pod.spec.initContainers ?? []).every((container) => {
    const own = record.containers[container.name];
    return isSidecar(container) ? own?.state.kind === 'running' && own.started : isDone(own);
  });
}

function planContainer(view: PodView, container: Container): { action?: PodAction; wakeAtMs?: number } {
  const record = view.record.containers[container.name];
  if (record === undefined) return { action: { kind: 'start', container } };
  const { state } = record;
  switch (state.kind) {
    case 'starting':
      return {};
    case 'waiting':
      if (state.retryAtMs !== undefined && state.retryAtMs > view.nowMs) return { wakeAtMs: state.retryAtMs };
      return { action: { kind: 'start', container } };
    case 'running':
      return planRunning(view, container, record, state.image);
    case 'terminated': {
      if (isMain(view.pod, container) && endedForGood(view.pod, container, state, false)) return {};
      const untilMs = selectRestartTime(record, state, view.backOff);
      if (untilMs <= view.nowMs) return { action: { kind: 'start', container } };
      return { action: { kind: 'backOff', container, untilMs }, wakeAtMs: untilMs };
    }
  }
}

function isMain(pod: Pod, container: Container): boolean {
  return pod.spec.containers.includes(container);
}

function planRunning(
  view: PodView,
  container: Container,
  record: ContainerRecord,
  image: string,
): { action?: PodAction } {
  const graceMs = (seconds: number | undefined): number =>
    (seconds ?? view.pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
  if (record.unhealthy !== undefined) {
    const probe = record.started ? container.livenessProbe : container.startupProbe;
    const grace = graceMs(probe?.terminationGracePeriodSeconds);
    return { action: { kind: 'stop', container, graceMs: grace, reason: record.unhealthy } };
  }
  if (image === container.image) return {};
  const reason = `Container ${container.name} definition changed, will be restarted`;
  return { action: { kind: 'stop', container, graceMs: graceMs(undefined), reason } };
}

function withWake(actions: readonly PodAction[], wakes: readonly (number | undefined)[]): PodPlan {
  const times = wakes.filter((wake) => wake !== undefined);
  return times.length === 0 ? { actions } : { actions, wakeAtMs: Math.min(...times) };
}
