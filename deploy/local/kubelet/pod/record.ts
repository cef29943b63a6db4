import type { Pod } from '../api/objects.ts';

/** What identifies a process for good: a pid alone is reused, a pid with its start time is not. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in clock ticks since boot, from `/proc/<pid>/stat`. */
  readonly startTicks: number;
}

/** How a run of a container ended. */
export interface Termination {
  readonly exitCode: number;
  readonly reason: string;
  readonly message?: string;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  readonly containerId: string;
}

/** The state of one container, as far as a restart of the node process must remember it. */
export type ContainerState =
  | {
      readonly kind: 'waiting';
      readonly reason: string;
      readonly message?: string;
      readonly retryAtMs?: number;
    }
  | { readonly kind: 'starting'; readonly attempt: number }
  | {
      readonly kind: 'running';
      readonly attempt: number;
      readonly startedAtMs: number;
      /** The first process inside the sandbox, and the sandbox itself, which writes the exit code down. */
      readonly init: ProcessIdentity;
      readonly sandbox: ProcessIdentity;
      readonly image: string;
      /** Set while the container is on its way out, so that a restart of the node process goes on with it. */
      readonly stopping?: boolean;
    }
  | ({ readonly kind: 'terminated' } & Termination);

/** All that is remembered about one container. */
export interface ContainerRecord {
  state: ContainerState;
  /** How the run before the present one ended. */
  last?: Termination;
  /** Runs begun so far; the restart count is one less. */
  attempts: number;
  /** The startup probe has passed, or there is none. */
  started: boolean;
  ready: boolean;
  /** Why a probe wants the container restarted. */
  unhealthy?: string;
  /** The delay before the next restart; absent until the first one, which is immediate. */
  backOffMs?: number;
}

/** All that is remembered about one pod. */
export interface PodRecord {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  address?: string;
  startedAtMs: number;
  /** The address is given and the volumes are there. */
  prepared: boolean;
  /** All init containers have done their part once. */
  initialized: boolean;
  /** The pod as a whole failed, e.g. by its deadline. */
  failure?: { readonly reason: string; readonly message: string };
  /** When the pod began to be stopped. */
  stopSinceMs?: number;
  /** The pod had ended before this node process ever saw it. */
  alreadyEnded?: boolean;
  containers: Record<string, ContainerRecord>;
}

/** The record of a container that has not been started. */
export function createContainerRecord(reason: string): ContainerRecord {
  return { state: { kind: 'waiting', reason }, attempts: 0, started: false, ready: false };
}

/** The record of a pod that has just come; one that had ended before, elsewhere in time, is not run again. */
export function createPodRecord(pod: Pod, node: string): PodRecord {
  const { uid, namespace, name } = pod.metadata;
  const phase = pod.status?.phase;
  const record: PodRecord = {
    uid,
    namespace,
    name,
    node,
    startedAtMs: Date.now(),
    prepared: false,
    initialized: false,
    containers: {},
  };
  if (phase === 'Succeeded' || phase === 'Failed') record.alreadyEnded = true;
  return record;
}

/** Sets a pod back to its beginning after a loss of power, except for what had been done for good. */
export function forgetRuns(pod: Pod, record: PodRecord): void {
  delete record.address;
  record.prepared = false;
  record.initialized = false;
  const main = new Set(pod.spec.containers.map((container) => container.name));
  for (const [name, own] of Object.entries(record.containers)) {
    const isDone = own.state.kind === 'terminated' && own.state.exitCode === 0;
    if (!(isDone && main.has(name) && pod.spec.restartPolicy === 'OnFailure')) forgetRun(own);
  }
}

/** A run that a loss of power ended can tell nothing about itself. */
function forgetRun(own: ContainerRecord): void {
  if (own.state.kind === 'terminated') {
    own.last = own.state.exitCode === 137 ? { ...own.state, exitCode: 255, reason: 'Unknown' } : own.state;
  }
  own.state = { kind: 'waiting', reason: 'ContainerCreating' };
  delete own.backOffMs;
}

/** The id of one run of a container, in the form that the API wants. */
export function containerIdOf(uid: string, container: string, attempt: number): string {
  return `keelson://${uid}/${container}/${attempt}`;
}

/** RFC 3339 in whole seconds, as the API writes times. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
