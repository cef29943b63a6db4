import { failure, failureOf, operationFailed } from './failures.ts';
import { judgeStep } from './guards.ts';
import type { Lifecycle, LifecycleTypes, Served, View } from './lifecycle.ts';
import type { OperationProgress, OperationResult, ResourceRef, Stop } from './messages.ts';
import type { Facts, PlanEnvelope, Step } from './plan.ts';
import type { OperationPort } from './port.ts';
import { Progress, renderTicks, secondsByKind } from './progress.ts';
import { Reporter } from './reporter.ts';
import { transition } from './transitions.ts';

/** What an operation is started with: all of it JSON, all of it readable in the Web UI. */
export interface OperationInput<T extends LifecycleTypes> {
  readonly ref: ResourceRef;
  readonly served: Served;
  readonly plan: PlanEnvelope<T['command']>;
  readonly phase: T['phase'];
  readonly observed: T['observed'];
  readonly carriedOut: number | null;
  readonly tuning?: Tuning;
}

/** Times that tests and slow links set otherwise; they travel from an entity to its operations. */
export interface Tuning {
  readonly heartbeatTimeoutMs?: number;
  readonly retryInitialMs?: number;
  readonly retryMaximumMs?: number;
  readonly driftMs?: number;
}

/** An operation is a runbook: a function that performs the plan's steps and says what was reached. */
export interface Operation<T extends LifecycleTypes> {
  readonly name: string;
  /** Steps of these kinds only wait: a newer wish or a cancellation ends them at once. */
  readonly interruptible: readonly T['command']['kind'][];
  /** The parts of the resource that a step needs for itself; no two steps that share one run at the same time. */
  parts?(step: Step<T['command']>): readonly string[];
  run(run: OperationRun<T>): Promise<void>;
}

/** How the steps of each kind are performed; what they answer becomes measured facts of the step. */
export type Performers<T extends LifecycleTypes, Kind extends T['command']['kind']> = {
  readonly [K in Kind]: (
    step: Extract<Step<T['command']>, { readonly kind: K }>,
    summary: string,
  ) => Promise<Facts | void>;
};

/** Thrown inside a run to leave it at a safe point; never leaves the runner. */
class Stopped extends Error {
  readonly stop: Stop;
  constructor(stop: Stop) {
    super(stop.reason);
    this.stop = stop;
  }
}

/** Runs one operation to its end, whatever ends it, and says what became of it. */
export async function runOperation<T extends LifecycleTypes>(
  port: OperationPort<T['activities']>,
  lifecycle: Lifecycle<T>,
  operation: Operation<T>,
  input: OperationInput<T>,
): Promise<OperationResult> {
  const run = new OperationRun(port, lifecycle, operation, input);
  try {
    await operation.run(run);
    return await run.finish('done', `${operation.name} is done`);
  } catch (error) {
    if (error instanceof Stopped) {
      await port.shielded(() => run.stopped(error.stop));
      return await run.finish(error.stop.why, error.stop.reason);
    }
    const failed = failureOf(error);
    if (failed?.code === 'Cancelled') {
      const stop: Stop = { why: 'cancelled', reason: 'the operation was cancelled from outside' };
      await port.shielded(async () => {
        await run.stopped(stop);
        await run.finish('cancelled', stop.reason);
      });
    }
    // A defect is told on the resource first; the plain error then parks the run until a fix is deployed.
    if (failed === null) {
      await run.reportDefect(error);
      throw error;
    }
    throw operationFailed(failed, run.failed(failed.message));
  }
}

/** One operation under way: what its runbook works with. */
export class OperationRun<T extends LifecycleTypes> {
  readonly port: OperationPort<T['activities']>;
  readonly input: OperationInput<T>;
  readonly ref: ResourceRef;
  readonly served: Served;
  readonly #lifecycle: Lifecycle<T>;
  readonly #operation: Operation<T>;
  readonly #progress: Progress;
  readonly #reporter: Reporter<View<T>>;
  readonly #startedAtMs: number;
  readonly #undo: { readonly what: string; readonly how: () => Promise<void> }[] = [];
  readonly #held = new Set<string>();
  #facts: Facts = {};
  #phase: T['phase'];
  #observed: T['observed'];
  #next = 0;
  #stop: Stop | null = null;
  #hold: string | null = null;

  constructor(
    port: OperationPort<T['activities']>,
    lifecycle: Lifecycle<T>,
    operation: Operation<T>,
    input: OperationInput<T>,
  ) {
    this.port = port;
    this.input = input;
    this.ref = input.ref;
    this.served = input.served;
    this.#lifecycle = lifecycle;
    this.#operation = operation;
    this.#progress = new Progress(input.plan);
    this.#phase = input.phase;
    this.#observed = input.observed;
    this.#startedAtMs = port.nowMs();
    this.#reporter = new Reporter((view) => lifecycle.report(port, view));
    port.serve({
      stop: (stop) => void (this.#stop ??= stop),
      hold: (reason) => void (this.#hold = reason),
      release: () => void (this.#hold = null),
      progress: () => this.progress,
    });
    this.#show(null);
  }

  /** The newest observation that this operation has made or was given. */
  get observed(): T['observed'] {
    return this.#observed;
  }

  get phase(): T['phase'] {
    return this.#phase;
  }

  get progress(): OperationProgress {
    return {
      operation: this.#operation.name,
      phase: this.#phase,
      steps: this.#progress.steps,
      waiting: this.#hold === null ? null : `paused: ${this.#hold}`,
      stopping: this.#stop?.reason ?? null,
    };
  }

  /** Performs the next steps of the plan as long as they are of these kinds: groups in order, a group's steps side by side. */
  async perform<Kind extends T['command']['kind']>(performers: Performers<T, Kind>): Promise<void> {
    const { steps } = this.input.plan;
    for (;;) {
      const group = steps.slice(this.#next).filter((step, _, rest) => step.group === rest[0]?.group);
      if (group.length === 0 || !group.every((step) => Object.hasOwn(performers, step.kind))) return;
      await this.safePoint();
      const outcomes = await Promise.allSettled(group.map((step) => this.#performOne(step, performers)));
      const refused = outcomes.find((outcome) => outcome.status === 'rejected');
      if (refused !== undefined) throw refused.reason;
      this.#next += group.length;
    }
  }

  /** Goes through the phase table; what the table does not have cannot happen. */
  reached(event: T['event'], message = ''): void {
    const outcome = transition(this.#lifecycle.table, this.#phase, event);
    if (!outcome.moved) throw failure('PhaseRefused', outcome.refusal);
    this.#phase = outcome.to;
    this.port.index({
      kind: this.#lifecycle.kind,
      ref: this.ref,
      phase: outcome.to,
      operation: this.#operation.name,
    });
    this.#report(message);
  }

  /** Observes the world again; a resource that is gone or another one ends the operation. */
  async observe(): Promise<T['observed']> {
    const seen = await this.#lifecycle.observe(this.port, this.ref);
    if (seen === null) throw failure('ResourceGone', `${this.ref.namespace}/${this.ref.name} is gone`);
    if (this.#lifecycle.served(seen).uid !== this.served.uid) {
      throw failure('ResourceReplaced', `${this.ref.namespace}/${this.ref.name} is another one now`);
    }
    this.#observed = seen;
    return seen;
  }

  /** Registers how to undo what is about to be done; undone in reverse order when the operation is cancelled. */
  onCancel(what: string, how: () => Promise<void>): void {
    this.#undo.push({ what, how });
  }

  /** Keeps measured facts for the operation's result. */
  note(facts: Facts): void {
    this.#facts = { ...this.#facts, ...facts };
  }

  /** Where a pause holds, and a newer wish or a cancellation ends the operation. */
  async safePoint(): Promise<void> {
    this.#reporter.check();
    if (this.#hold !== null && this.#stop === null) {
      this.#show(`paused: ${this.#hold}`);
      await this.port.until(() => this.#hold === null || this.#stop !== null, {
        summary: `paused: ${this.#hold}`,
      });
      this.#show(null);
    }
    if (this.#stop !== null) throw new Stopped(this.#stop);
  }

  async #performOne<Kind extends T['command']['kind']>(
    step: Step<T['command']>,
    performers: Performers<T, Kind>,
  ): Promise<void> {
    const parts = this.#operation.parts?.(step) ?? [];
    const summary = `${step.id} ${step.kind}: ${step.reason}`;
    const free = (): boolean => parts.every((part) => !this.#held.has(part));
    if (!free()) await this.port.until(free, { summary: `${step.id} waits for ${parts.join(', ')}` });
    parts.forEach((part) => this.#held.add(part));
    const startedAtMs = this.port.nowMs();
    this.#progress.start(step.id, startedAtMs);
    this.#show(null);
    let outcome: 'done' | 'failed' = 'failed';
    let facts: Facts | undefined;
    try {
      if (step.irreversible) await this.#guardAgain(step);
      // The step's kind chose its performer, which TypeScript cannot follow through the index.
      const perform = performers[step.kind as Kind] as (
        step: Step<T['command']>,
        summary: string,
      ) => Promise<Facts | void>;
      facts = (await this.#interruptibly(step, () => perform(step, summary))) ?? undefined;
      outcome = 'done';
    } finally {
      parts.forEach((part) => this.#held.delete(part));
      const endedAtMs = this.port.nowMs();
      this.#progress.end(step.id, outcome, endedAtMs, facts);
      const labels = { lifecycle: this.#lifecycle.name, kind: step.kind, outcome };
      this.port.measures.stepEnded(labels, (endedAtMs - startedAtMs) / 1000);
      this.#show(null);
    }
  }

  async #interruptibly<R>(step: Step<T['command']>, work: () => Promise<R>): Promise<R> {
    if (!this.#operation.interruptible.includes(step.kind)) return work();
    const ended = await this.port.interruptible(work, () => this.#stop !== null);
    if ('value' in ended) return ended.value;
    throw new Stopped(this.#stop ?? { why: 'cancelled', reason: 'given up' });
  }

  async #guardAgain(step: Step<T['command']>): Promise<void> {
    const observed = await this.observe();
    const verdicts = judgeStep(this.#lifecycle.guards, observed, this.input.plan, step);
    const refused = verdicts.flatMap((verdict) => verdict.blocked)[0];
    if (refused !== undefined) throw failure('GuardBlocked', `${refused.guard}: ${refused.message}`);
  }

  /** Leaves the phases of the operation; a cancelled one first undoes, newest first, what it registered. */
  async stopped(stop: Stop): Promise<void> {
    this.#show(`${stop.why}: ${stop.reason}`);
    if (stop.why === 'cancelled') {
      for (const { what, how } of this.#undo.toReversed()) {
        this.#show(`undoing: ${what}`);
        await how();
      }
    }
    const { superseded, cancelled } = this.#lifecycle.events;
    this.reached(stop.why === 'cancelled' ? cancelled : superseded, stop.reason);
  }

  /** Ends the run: everything is written, counted and told. */
  async finish(outcome: 'done' | 'superseded' | 'cancelled', message: string): Promise<OperationResult> {
    if (outcome === 'done' && this.#next < this.input.plan.steps.length) {
      throw new Error(`${this.#operation.name} left step ${this.input.plan.steps[this.#next]?.id} undone`);
    }
    await this.#reporter.flush();
    this.#show(outcome === 'done' ? null : `${outcome}: ${message}`);
    const result = this.#result(outcome, message);
    this.#measure(outcome);
    return result;
  }

  /** Counts the failure and says how far the run came; what follows from it is the entity's to decide. */
  failed(message: string): OperationResult {
    this.#show(`failed: ${message}`);
    this.#measure('failed');
    return this.#result('failed', message);
  }

  /** Says on the resource that the run is parked, and why. */
  async reportDefect(error: unknown): Promise<void> {
    const message = `${this.#operation.name} is parked by a defect: ${error instanceof Error ? error.message : String(error)}`;
    this.#show(message);
    this.#report(message);
    await this.#reporter.flush();
  }

  #result(outcome: OperationResult['outcome'], message: string): OperationResult {
    const { steps } = this.#progress;
    return {
      operation: this.#operation.name,
      outcome,
      message,
      failure: null,
      steps: { done: steps.filter((step) => step.state === 'done').length, of: steps.length },
      phase: this.#phase,
      durationMs: this.port.nowMs() - this.#startedAtMs,
      stepSeconds: secondsByKind(steps),
      facts: this.#facts,
    };
  }

  #measure(outcome: string): void {
    const labels = { lifecycle: this.#lifecycle.name, operation: this.#operation.name, outcome };
    this.port.measures.operationEnded(labels, (this.port.nowMs() - this.#startedAtMs) / 1000);
  }

  #report(message: string): void {
    const { name } = this.#operation;
    this.#reporter.put({
      observed: this.#observed,
      served: this.served,
      phase: this.#phase,
      message: message === '' ? `${name} is under way` : message,
      reason: 'OperationRunning',
      operation: { name, workflowId: this.port.workflowId, startedAtMs: this.#startedAtMs },
      blocked: null,
      failure: null,
      paused: this.#hold !== null,
      carriedOut: this.input.carriedOut,
      last: null,
    });
  }

  #show(note: string | null): void {
    this.port.show(renderTicks(`${this.#operation.name} (${this.#phase})`, this.#progress.steps, note));
  }
}
