import type { Container, Handler, Pod } from '../api/objects.ts';
import type { NodeContext } from '../node/context.ts';
import type { PodEvent } from '../node/events.ts';
import { selectNextDelay } from '../pod/back-off.ts';
import { ConfigurationError } from '../pod/fields.ts';
import type { NodeFacts } from '../pod/fields.ts';
import { containerIdOf } from '../pod/record.ts';
import type { ContainerRecord } from '../pod/record.ts';
import type { VolumeSet } from '../volumes/volume-set.ts';
import { StartProblem, hasOwnUser } from './blueprint.ts';
import { runInContainer } from './execution.ts';
import { readMessage, readTail, runFilesOf } from './files.ts';
import { runHandler } from './handlers.ts';
import type { HandlerTarget } from './handlers.ts';
import { findImage, prepareLaunch } from './launch.ts';
import { adoptContainer, launchContainer, readExit } from './process.ts';
import type { ContainerProcess, ExitReport } from './process.ts';
import { Prober } from './prober.ts';
import { signalProcess } from './proc.ts';
import { Stopper } from './stopper.ts';
import { buildTermination } from './termination.ts';

/** What a container needs of its pod. */
export interface PodHandle {
  readonly context: NodeContext;
  readonly directory: string;
  readonly hostsFile: string;
  readonly volumes: VolumeSet;
  readonly pod: () => Pod;
  readonly facts: () => NodeFacts;
  readonly recordOf: (container: string) => ContainerRecord;
  /** Something changed: write it down and think again. */
  readonly changed: () => void;
}

const retryFirstMs = 1_000;
const retryLastMs = 10_000;
const logTailBytes = 4_096;

/** Carries out the runs of one container, one after another, and keeps its record true. */
export class ContainerRunner {
  private readonly handle: PodHandle;
  private readonly name: string;
  private readonly isInit: boolean;
  private process: ContainerProcess | undefined;
  private prober: Prober | undefined;
  private stopper: Stopper | undefined;
  private problems = 0;

  constructor(handle: PodHandle, name: string) {
    this.handle = handle;
    this.name = name;
    this.isInit = handle.pod().spec.initContainers?.some((container) => container.name === name) ?? false;
  }

  /** Begins a new run; what comes of it is told by the record. */
  start(container: Container): void {
    const own = this.own;
    const { state } = own;
    const ended = state.kind === 'terminated' ? state : own.last;
    const isRestart =
      state.kind === 'terminated' || (state.kind === 'waiting' && state.reason === 'CrashLoopBackOff');
    if (isRestart && ended !== undefined)
      own.backOffMs = selectNextDelay(own, ended, this.handle.context.backOff);
    if (state.kind === 'terminated') own.last = state;
    own.state = { kind: 'starting', attempt: own.attempts };
    this.handle.changed();
    this.launch(container, own.attempts).catch((error: unknown) => this.reportProblem(error));
  }

  /** Brings the present run to its end; repeated calls can only make it sooner. */
  stop(container: Container, graceMs: number, reason: string): void {
    const { process } = this;
    if (process === undefined) return;
    const deadlineMs = Date.now() + graceMs;
    if (this.stopper !== undefined) {
      this.stopper.shorten(deadlineMs);
      return;
    }
    this.prober?.stop(true);
    this.tell(
      'Normal',
      'Killing',
      reason === 'Stopping container' ? `Stopping container ${this.name}` : reason,
    );
    const signal = (container.lifecycle?.stopSignal ?? 'SIGTERM') as NodeJS.Signals;
    this.stopper = new Stopper(process, signal, deadlineMs);
    const hook = container.lifecycle?.preStop;
    const preStop =
      hook === undefined ? undefined : (timeoutMs: number) => this.runHook('PreStop', hook, timeoutMs);
    void this.stopper.run(preStop);
  }

  /** Takes over a run that an earlier process of this node began, or finds out how it ended. */
  adopt(container: Container): void {
    const own = this.own;
    const { state } = own;
    if (state.kind !== 'running' && state.kind !== 'starting') return;
    const files = runFilesOf(this.handle.directory, this.name, state.attempt);
    const known = state.kind === 'running' ? state : undefined;
    const adopted = adoptContainer(files.status, known, this.idOf(state.attempt));
    if (adopted !== undefined) {
      if (known === undefined) this.markRunning(container, adopted, state.attempt);
      this.follow(container, adopted, own.started, own.ready);
    } else if (known === undefined) own.state = { kind: 'waiting', reason: 'ContainerCreating' };
    else this.conclude(container, readExit(files.status));
  }

  /** Ends the run at once, as when the machine under it loses its power. */
  kill(): void {
    if (this.process !== undefined) signalProcess(this.process.init, 'SIGKILL');
  }

  private get target(): HandlerTarget {
    const pod = this.handle.pod();
    const container = this.find(pod);
    const { process } = this;
    return {
      container,
      address: this.handle.facts().podIP,
      exec: (command, timeoutMs) =>
        process === undefined
          ? Promise.resolve({ ok: false, output: 'the container does not run' })
          : runInContainer({ ...process, ownUser: hasOwnUser(pod, container) }, command, timeoutMs),
    };
  }

  private get own(): ContainerRecord {
    return this.handle.recordOf(this.name);
  }

  private find(pod: Pod): Container {
    const all = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
    const container = all.find((each) => each.name === this.name);
    if (container === undefined) throw new Error(`there is no container ${this.name}`);
    return container;
  }

  private async launch(container: Container, attempt: number): Promise<void> {
    const image = findImage(this.handle.context, container, this.problems > 0);
    const launch = await prepareLaunch(this.handle, container, image, attempt, this.idOf(attempt));
    this.tell('Normal', 'Pulled', `Container image "${container.image}" already present on machine`);
    this.tell('Normal', 'Created', `Container created: ${this.name}`);
    const launched = await launchContainer(launch);
    this.problems = 0;
    this.process = launched;
    this.markRunning(container, launched, attempt);
    this.tell('Normal', 'Started', `Container started: ${this.name}`);
    const hook = container.lifecycle?.postStart;
    if (hook !== undefined) await Promise.race([launched.exited, this.runPostStart(container, hook)]);
    this.follow(container, launched, false, false);
  }

  private markRunning(container: Container, process: ContainerProcess, attempt: number): void {
    const own = this.own;
    const { init, sandbox } = process;
    own.attempts = attempt + 1;
    own.state = { kind: 'running', attempt, startedAtMs: Date.now(), init, sandbox, image: container.image };
    own.started = false;
    own.ready = false;
    delete own.unhealthy;
    this.handle.changed();
  }

  /** Watches a run: its probes, and its end. */
  private follow(container: Container, process: ContainerProcess, started: boolean, ready: boolean): void {
    this.process = process;
    const own = this.own;
    if (own.state.kind !== 'running') return;
    this.prober = this.createProber(container, own.state.startedAtMs);
    this.prober.start(started, ready);
    process.exited.then(
      (report) => this.conclude(container, report),
      (error: unknown) => this.reportProblem(error),
    );
  }

  private createProber(container: Container, startedAtMs: number): Prober {
    const set = (change: Partial<ContainerRecord>): void => {
      Object.assign(this.own, change);
      this.handle.changed();
    };
    return new Prober(
      container,
      (probe, timeoutMs) => runHandler(probe, this.target, timeoutMs),
      startedAtMs,
      {
        started: () => set({ started: true }),
        readiness: (ready) => set({ ready }),
        unhealthy: (unhealthy) => set({ unhealthy }),
        failed: (kind, output) => {
          const name = `${kind[0]?.toUpperCase() ?? ''}${kind.slice(1)}`;
          this.tell('Warning', 'Unhealthy', `${name} probe failed: ${output}`);
        },
      },
    );
  }

  private conclude(container: Container, report: ExitReport): void {
    const own = this.own;
    if (own.state.kind !== 'running') return;
    const { attempt, startedAtMs } = own.state;
    const files = runFilesOf(this.handle.directory, this.name, attempt);
    const remains = {
      report,
      message: readMessage(files.message),
      logTail: readTail(files.log, logTailBytes),
    };
    const id = containerIdOf(this.handle.pod().metadata.uid, this.name, attempt);
    own.state = { kind: 'terminated', ...buildTermination(container, remains, startedAtMs, id) };
    own.started = false;
    own.ready = false;
    delete own.unhealthy;
    this.prober?.stop();
    this.prober = undefined;
    this.process = undefined;
    this.stopper = undefined;
    this.handle.changed();
  }

  private async runPostStart(container: Container, hook: Handler): Promise<void> {
    const { ok, output } = await runHandler(hook, this.target, 2 ** 31 - 1);
    if (ok || this.process === undefined) return;
    this.tell('Warning', 'FailedPostStartHook', `PostStartHook failed: ${output}`);
    const graceMs = (this.handle.pod().spec.terminationGracePeriodSeconds ?? 30) * 1000;
    this.stop(container, graceMs, 'FailedPostStartHook');
  }

  private async runHook(kind: string, hook: Handler, timeoutMs: number): Promise<void> {
    const { ok, output } = await runHandler(hook, this.target, timeoutMs);
    if (!ok) this.tell('Warning', `Failed${kind}Hook`, `${kind}Hook failed: ${output}`);
  }

  /** A container that cannot start waits, says why, and is tried again later. */
  private reportProblem(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const reason = reasonOf(error);
    if (reason === 'CreateContainerError')
      this.handle.context.log(`cannot start container ${this.name}`, error);
    if (reason === 'ImagePullBackOff') this.tell('Normal', 'BackOff', message);
    else if (reason === 'ErrImagePull') {
      this.tell(
        'Warning',
        'Failed',
        `Failed to pull image "${this.find(this.handle.pod()).image}": ${message}`,
      );
    } else this.tell('Warning', 'Failed', `Error: ${message}`);
    const waitMs = Math.min(retryFirstMs * 2 ** this.problems, retryLastMs);
    this.problems += 1;
    this.own.state = { kind: 'waiting', reason, message, retryAtMs: Date.now() + waitMs };
    this.handle.changed();
  }

  private idOf(attempt: number): string {
    return containerIdOf(this.handle.pod().metadata.uid, this.name, attempt);
  }

  private tell(type: PodEvent['type'], reason: string, message: string): void {
    const { context } = this.handle;
    const fieldPath = `spec.${this.isInit ? 'initContainers' : 'containers'}{${this.name}}`;
    context.events.record(context.name, this.handle.pod().metadata, { type, reason, message, fieldPath });
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof StartProblem) return error.reason;
  return error instanceof ConfigurationError ? 'CreateContainerConfigError' : 'CreateContainerError';
}
