import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiError } from '../../kubernetes/api.ts';
import type { Container, Pod } from '../api/objects.ts';
import { hostnameOf } from '../container/blueprint.ts';
import { runFilesOf, trimLog } from '../container/files.ts';
import { ContainerRunner } from '../container/runner.ts';
import type { NodeContext } from '../node/context.ts';
import { removePod, savePod } from '../node/disk.ts';
import { VolumeSet } from '../volumes/volume-set.ts';
import type { NodeFacts } from './fields.ts';
import { PodMounts } from './mounts.ts';
import { hasEnded, hasInitialized, planPod } from './plan.ts';
import type { PodAction } from './plan.ts';
import { createContainerRecord, createPodRecord, forgetRuns } from './record.ts';
import type { ContainerRecord, PodRecord } from './record.ts';
import { listEnvironmentReferences, listVolumeReferences } from './references.ts';
import { buildStatus } from './status.ts';
import { StatusWriter } from './status-writer.ts';

const deleteRetryMs = 500;
const emptyPollMs = 20;

/** Runs one pod from its arrival on the node to its end: asks the plan what to do, does it, tells the API. */
export class PodRunner {
  readonly record: PodRecord;
  private readonly context: NodeContext;
  private readonly directory: string;
  private readonly volumes: VolumeSet;
  private readonly mounts: PodMounts;
  private readonly writer: StatusWriter;
  private readonly runners = new Map<string, ContainerRunner>();
  private readonly onRemoved: () => void;
  private pod: Pod;
  private gone = false;
  private over = false;
  private deleted = false;
  private removed = false;
  private pending: NodeJS.Immediate | undefined;
  private timer: NodeJS.Timeout | undefined;
  private finishing = false;

  constructor(context: NodeContext, pod: Pod, saved: PodRecord | undefined, onRemoved: () => void) {
    this.context = context;
    this.pod = pod;
    this.onRemoved = onRemoved;
    this.directory = join(context.podsDir, pod.metadata.uid);
    mkdirSync(join(this.directory, 'volumes'), { recursive: true });
    this.volumes = new VolumeSet(context, join(this.directory, 'volumes'));
    this.mounts = new PodMounts(this.volumes, {
      pod: () => this.pod,
      facts: () => this.facts(),
      mounted: () => this.markPrepared(),
      failed: (message) => this.tell('Warning', 'FailedMount', message),
    });
    this.writer = new StatusWriter(context, pod);
    this.record = saved ?? createPodRecord(pod, context.name);
    this.record.prepared = false;
    if (this.record.address !== undefined) context.addresses.reserve(this.record.address);
    for (const container of this.containers()) {
      if (this.record.containers[container.name] !== undefined)
        this.runnerOf(container.name).adopt(container);
    }
    this.wake();
  }

  /** Takes the pod as the API has it now. */
  update(pod: Pod): void {
    const relabelled = describe(pod) !== describe(this.pod);
    this.pod = pod;
    if (relabelled && this.record.prepared) this.mounts.repeat();
    this.wake();
  }

  /** The object no longer exists: whatever still runs is stopped and everything is removed. */
  vanish(): void {
    this.gone = true;
    this.writer.close();
    this.wake();
  }

  /** A ConfigMap or Secret changed; volumes and waiting containers that use it take notice. */
  notice(kind: 'configMaps' | 'secrets', name: string): void {
    if (!this.context.isActive()) return;
    if (listVolumeReferences(this.pod)[kind].has(name) && this.record.address !== undefined)
      this.mounts.repeat();
    if (this.containers().some((container) => listEnvironmentReferences(container)[kind].has(name)))
      this.retry();
  }

  /** Tries again at once what waits for something outside. */
  retry(): void {
    for (const own of Object.values(this.record.containers)) {
      if (own.state.kind !== 'waiting' || own.state.reason === 'CrashLoopBackOff') continue;
      const { retryAtMs: _, ...state } = own.state;
      own.state = state;
    }
    this.wake();
  }

  /** Renews what expires, e.g. service account tokens. */
  refresh(nowMs: number): void {
    if (this.record.prepared && (this.volumes.refreshAtMs ?? Infinity) <= nowMs) this.mounts.repeat();
  }

  /** Tells the API everything again, after a time in which it was not told. */
  resume(): void {
    this.writer.reset();
    this.wake();
  }

  /** Starts over after a loss of power: a new address, the init containers again, the same volumes. */
  restartAfterPowerLoss(): void {
    if (!hasEnded(this.pod, this.record)) {
      if (this.record.address !== undefined) this.context.addresses.release(this.record.address);
      forgetRuns(this.pod, this.record);
    }
    this.resume();
  }

  /** Ends all containers at once, as a loss of power does. */
  killContainers(): Promise<void> {
    return this.empty(() => {
      for (const runner of this.runners.values()) runner.kill();
    });
  }

  /** Stops all containers politely, without telling the API: the whole stack goes down. */
  stopContainers(graceMs: number): Promise<void> {
    return this.empty(() => {
      for (const container of this.containers()) {
        this.runnerOf(container.name).stop(container, graceMs, 'Stopping container');
      }
    });
  }

  /** Keeps logs from filling the disk. */
  trimLogs(): void {
    for (const [name, { state }] of Object.entries(this.record.containers)) {
      if (state.kind === 'running') trimLog(runFilesOf(this.directory, name, state.attempt).log);
    }
  }

  /** Looks again, soon; calls in between are one. */
  wake(): void {
    if (this.removed) return;
    this.pending ??= setImmediate(() => {
      this.pending = undefined;
      this.turn();
    });
  }

  /** Repeats an ending until nothing runs, because a container that was just being started comes up first. */
  private async empty(end: () => void): Promise<void> {
    const isBusy = ({ state }: ContainerRecord): boolean =>
      state.kind === 'running' || state.kind === 'starting';
    while (Object.values(this.record.containers).some(isBusy)) {
      end();
      await new Promise((resolve) => setTimeout(resolve, emptyPollMs));
    }
  }

  private turn(): void {
    if (!this.context.isActive() || this.removed) return;
    const { pod, gone, record } = this;
    if (record.prepared && !record.initialized && hasInitialized(pod, record)) record.initialized = true;
    const plan = planPod({ pod, gone, record, backOff: this.context.backOff, nowMs: Date.now() });
    for (const action of plan.actions) this.perform(action);
    this.report();
    clearTimeout(this.timer);
    if (plan.wakeAtMs !== undefined) {
      this.timer = setTimeout(
        () => this.wake(),
        Math.min(Math.max(plan.wakeAtMs - Date.now(), 1), 2 ** 31 - 1),
      );
    }
  }

  private perform(action: PodAction): void {
    switch (action.kind) {
      case 'prepare':
        this.prepare();
        return;
      case 'start':
        this.recordOf(action.container.name);
        this.runnerOf(action.container.name).start(action.container);
        return;
      case 'stop':
        if (
          this.gone ||
          this.pod.metadata.deletionTimestamp !== undefined ||
          hasEnded(this.pod, this.record)
        ) {
          this.record.stopSinceMs ??= Date.now();
        }
        this.runnerOf(action.container.name).stop(action.container, action.graceMs, action.reason);
        return;
      case 'backOff':
        this.holdBack(action.container, action.untilMs);
        return;
      case 'fail':
        this.record.failure = { reason: action.reason, message: action.message };
        this.tell('Normal', action.reason, action.message);
        this.changed();
        return;
      case 'finish':
        void this.finish();
        return;
    }
  }

  private holdBack(container: Container, untilMs: number): void {
    const own = this.recordOf(container.name);
    if (own.state.kind !== 'terminated') return;
    own.last = own.state;
    const { name, namespace, uid } = this.pod.metadata;
    const seconds = Math.round((own.backOffMs ?? 0) / 1000);
    const message = `back-off ${seconds}s restarting failed container=${container.name} pod=${name}_${namespace}(${uid})`;
    own.state = { kind: 'waiting', reason: 'CrashLoopBackOff', message, retryAtMs: untilMs };
    this.tell(
      'Warning',
      'BackOff',
      `Back-off restarting failed container ${container.name} in pod ${name}_${namespace}(${uid})`,
    );
    this.save();
  }

  /** An address first, because variables and volumes may show it. */
  private prepare(): void {
    if (this.record.address === undefined) {
      const { address, addresses } = this.context;
      this.record.address = this.pod.spec.hostNetwork === true ? address : addresses.allocate();
      writeFileSync(
        this.hostsFile,
        `127.0.0.1\tlocalhost\n${this.record.address}\t${hostnameOf(this.pod)}\n`,
      );
      this.save();
    }
    this.mounts.ensure();
  }

  private markPrepared(): void {
    if (this.record.prepared) return;
    this.record.prepared = true;
    this.changed();
  }

  private report(): void {
    if (this.gone || this.record.alreadyEnded === true) return;
    const previous = this.writer.conditions ?? this.pod.status?.conditions ?? [];
    const { pod, record, over } = this;
    const status = buildStatus({
      pod,
      record,
      hostIP: this.context.address,
      previous,
      over,
      nowMs: Date.now(),
    });
    this.writer.offer(status, pod);
  }

  /** Nothing runs any more: the last status, then the object itself, then, when it is gone, everything on the disk. */
  private async finish(): Promise<void> {
    if (this.finishing) return;
    this.finishing = true;
    await this.mounts.close();
    this.over = true;
    this.report();
    await this.writer.flush();
    while (!this.gone && !this.deleted && this.context.isActive()) {
      this.deleted = await this.deleteObject();
      if (!this.deleted) await new Promise((resolve) => setTimeout(resolve, deleteRetryMs));
    }
    this.finishing = false;
    if (this.gone) this.remove();
  }

  private async deleteObject(): Promise<boolean> {
    const { namespace, name, uid } = this.pod.metadata;
    try {
      await this.context.api.send('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}`, {
        gracePeriodSeconds: 0,
        preconditions: { uid },
      });
      return true;
    } catch (error) {
      if (error instanceof ApiError && (error.status === 404 || error.status === 409)) return true;
      this.context.log(`cannot delete pod ${namespace}/${name}`, error);
      return false;
    }
  }

  private remove(): void {
    this.removed = true;
    clearTimeout(this.timer);
    this.writer.close();
    if (this.record.address !== undefined) this.context.addresses.release(this.record.address);
    removePod(this.directory);
    this.onRemoved();
  }

  private get hostsFile(): string {
    return join(this.directory, 'hosts');
  }

  private facts(): NodeFacts {
    const { address, allocatable } = this.context;
    return { podIP: this.record.address ?? '', hostIP: address, allocatable };
  }

  private containers(): readonly Container[] {
    return [...(this.pod.spec.initContainers ?? []), ...this.pod.spec.containers];
  }

  private recordOf(name: string): ContainerRecord {
    return (this.record.containers[name] ??= createContainerRecord('ContainerCreating'));
  }

  private runnerOf(name: string): ContainerRunner {
    let runner = this.runners.get(name);
    if (runner !== undefined) return runner;
    runner = new ContainerRunner(
      {
        context: this.context,
        directory: this.directory,
        hostsFile: this.hostsFile,
        volumes: this.volumes,
        pod: () => this.pod,
        facts: () => this.facts(),
        recordOf: (container) => this.recordOf(container),
        changed: () => this.changed(),
      },
      name,
    );
    this.runners.set(name, runner);
    return runner;
  }

  private changed(): void {
    this.save();
    this.wake();
  }

  private save(): void {
    if (!this.removed) savePod(this.directory, { pod: this.pod, record: this.record });
  }

  private tell(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.context.events.record(this.context.name, this.pod.metadata, { type, reason, message });
  }
}

/** What of a pod its downward API volumes may show, and may change. */
function describe({ metadata }: Pod): string {
  return JSON.stringify([metadata.labels, metadata.annotations]);
}
