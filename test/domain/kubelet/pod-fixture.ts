import type { Container, Pod, PodSpec } from '../../../deploy/local/kubelet/api/objects.ts';
import type { PodView } from '../../../deploy/local/kubelet/pod/plan.ts';
import type { ContainerRecord, ContainerState, PodRecord } from '../../../deploy/local/kubelet/pod/record.ts';

/** The moment at which all of these tests take place. */
export const NOW = Date.UTC(2026, 0, 1);

export const backOff = { baseMs: 1_000, maxMs: 30_000 };

export function container(name: string, more: Partial<Container> = {}): Container {
  return { name, image: 'box', ...more };
}

export function pod(spec: Partial<PodSpec> = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
  return {
    metadata: { name: 'web-0', namespace: 'default', uid: 'uid-1', ...metadata },
    spec: { nodeName: 'node-1', containers: [container('main')], terminationGracePeriodSeconds: 30, ...spec },
  };
}

export function running(startedAtMs = NOW - 60_000, image = 'box'): ContainerState {
  const identity = { pid: 100, startTicks: 1 };
  return { kind: 'running', attempt: 0, startedAtMs, init: identity, sandbox: identity, image };
}

export function ended(
  exitCode: number,
  finishedAtMs = NOW,
  startedAtMs = finishedAtMs - 100,
): ContainerState {
  const reason = exitCode === 0 ? 'Completed' : 'Error';
  return { kind: 'terminated', exitCode, reason, startedAtMs, finishedAtMs, containerId: 'keelson://x' };
}

export const starting: ContainerState = { kind: 'starting', attempt: 0 };

export function waiting(reason: string, retryAtMs?: number): ContainerState {
  return retryAtMs === undefined ? { kind: 'waiting', reason } : { kind: 'waiting', reason, retryAtMs };
}

/** The record of a container that has been started once. */
export function own(state: ContainerState, more: Partial<ContainerRecord> = {}): ContainerRecord {
  const isRunning = state.kind === 'running';
  return { state, attempts: 1, started: isRunning, ready: isRunning, ...more };
}

export function record(
  containers: Record<string, ContainerRecord>,
  more: Partial<PodRecord> = {},
): PodRecord {
  return {
    uid: 'uid-1',
    namespace: 'default',
    name: 'web-0',
    node: 'node-1',
    address: '127.41.1.1',
    startedAtMs: NOW - 60_000,
    prepared: true,
    initialized: true,
    containers,
    ...more,
  };
}

export function view(of: Pod, known: PodRecord, more: Partial<PodView> = {}): PodView {
  return { pod: of, record: known, gone: false, backOff, nowMs: NOW, ...more };
}
