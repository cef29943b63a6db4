import { failure, failureOf } from './failures.ts';
import type { Failure } from './failure-codes.ts';
import { guardsKnowing, judgeStep } from './guards.ts';
import type { Lifecycle, LifecycleTypes, Served, View } from './lifecycle.ts';
import type { OperationInput } from './operation-input.ts';
import type { OperationProgress, OperationResult, ResourceRef, Stop } from './messages.ts';
import { PartLocks } from './part-locks.ts';
import type { Facts, Step } from './plan.ts';
import type { OperationPort } from './port.ts';
import { Progress, renderTicks, secondsByKind } from './progress.ts';
import { Reporter } from './reporter.ts';
import { endOrLetGo, gravest, LetGo, Stopped } from './stopping.ts';
import { transition } from './transitions.ts';

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

/** The steps of a group that run side by side. */
interface Company {
  failed: boolean;
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
  readonly #reportPort: OperationPort<T['activities']>;
  readonly #startedAtMs: number;
  readonly #undo: { readonly what: string; readonly how: () => Promise<void> }[] = [];
  readonly #locks = new PartLocks();
  #facts: Facts = {};
  #phase: T['phase'];
  #moved = false;
  #observed: T['observed'];
  #next = 0;
  #stop: Stop | null = null;
  #hold: string | null = null;
  #heard: (hold: string | null) => void = () => {};

  constructor(
    port: OperationPort<T['activities']>,
    lifecycle: Lifecycle<T>,
    operation: Operation<T>,
    input: OperationInput<T>,
  ) {
    this.#reportPort = port;
    this.port = { ...port, ...this.#startingWrites(port) };
    this.input = input;
    this.ref = input.ref;
    this.served = input.served;
    this.#lifecycle = lifecycle;
    this.#operation = operation;
    this.#progress = new Progress(input.plan);
    this.#phase = input.phase;
    this.#observed = input.observed;
    this.#startedAtMs = port.nowMs();
    this.#reporter = new Reporter((view) => this.#write(view));
    port.serve({
      // A person's cancellation goes further than a newer wish.
      stop: (stop) => void (this.#stop = this.#stop?.why === 'cancelled' ? this.#stop : stop),
      hold: (reason) => this.#heard((this.#hold = reason)),
      release: () => this.#heard((this.#hold = null)),
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

  /** Why it is to end early, once somebody wants that. */
  get stop(): Stop | null {
    return this.#stop;
  }

  /** Why it is to hold, while somebody wants that. */
  get hold(): string | null {
    return this.#hold;
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
      const company: Company = { failed: false };
      const outcomes = await Promise.allSettled(
        group.map((step) => this.#performOne(step, performers, company)),
      );
      const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
      if (errors.length > 0) throw gravest(errors);
      this.#next += group.length;
    }
  }

  /** Goes through the phase table; what the table does not have cannot happen. */
  reached(event: T['event'], message = ''): void {
    const outcome = transition(this.#lifecycle.table, this.#phase, event);
    if (!outcome.moved) throw failure('PhaseRefused', outcome.refusal);
    this.#reporter.begin();
    this.#phase = outcome.to;
    this.#moved = true;
    const { name } = this.#operation;
    this.port.index({ kind: this.#lifecycle.kind, ref: this.ref, phase: outcome.to, operation: name });
    this.#report(message === '' ? `${name} is under way` : message);
    this.#show(null);
  }

  /** Says on the resource what is going on, beside the phase: what a long wait waits for. */
  tell(message: string): void {
    this.#report(message);
    this.#reporter.begin();
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

  /** Hears at once why a pause holds the run, and with null that it ends; the run itself holds at its next safe point. */
  onHold(heard: (reason: string | null) => void): void {
    this.#heard = heard;
    if (this.#hold !== null) heard(this.#hold);
  }

  /** Keeps measured facts for the operation's result. */
  note(facts: Facts): void {
    this.#facts = { ...this.#facts, ...facts };
  }

  /** Where a pause holds, and a newer wish or a cancellation ends the operation. */
  async safePoint(): Promise<void> {
    this.#reporter.check();
    while (this.#hold !== null && this.#stop === null) {
      const summary = `paused: ${this.#hold}`;
      this.#show(summary);
      this.#report(summary);
      await this.port.until(() => this.#hold === null || this.#stop !== null, { summary });
      this.#show(null);
      this.#report(`${this.#operation.name} is under way`);
    }
    if (this.#stop !== null) throw new Stopped(this.#stop);
  }

  async #performOne<Kind extends T['command']['kind']>(
    step: Step<T['command']>,
    performers: Performers<T, Kind>,
    company: Company,
  ): Promise<void> {
    const parts = this.#operation.parts?.(step) ?? [];
    const waiting = { summary: `${step.id} waits for ${parts.join(', ')}` };
    const waited = await this.#locks.take(parts, (free) => this.port.until(free, waiting));
    const startedAtMs = this.port.nowMs();
    let outcome: 'done' | 'failed' | 'skipped' = 'failed';
    let facts: Facts | undefined;
    try {
      if (waited && company.failed) throw new LetGo();
      if (waited) await this.safePoint();
      this.#progress.start(step.id, startedAtMs);
      this.#show(null);
      if (step.irreversible) await this.#guardAgain(step);
      // The step's kind chose its performer, which TypeScript cannot follow through the index.
      const perform = performers[step.kind as Kind] as (
        step: Step<T['command']>,
        summary: string,
      ) => Promise<Facts | void>;
      const work = (): Promise<Facts | void> => perform(step, `${step.id} ${step.kind}: ${step.reason}`);
      facts = (await this.#interruptibly(step, work, company)) ?? undefined;
      outcome = 'done';
    } catch (error) {
      if (error instanceof Stopped || error instanceof LetGo) outcome = 'skipped';
      else company.failed = true;
      throw error;
    } finally {
      this.#locks.release(parts);
      const endedAtMs = this.port.nowMs();
      this.#progress.end(step.id, outcome, endedAtMs, facts);
      const labels = { lifecycle: this.#lifecycle.name, kind: step.kind, outcome };
      this.port.measures.stepEnded(labels, (endedAtMs - startedAtMs) / 1000);
      this.#show(null);
    }
  }

  /** Lets go of a step that only waits as soon as its end is of no interest any more. */
  async #interruptibly<R>(step: Step<T['command']>, work: () => Promise<R>, company: Company): Promise<R> {
    if (!this.#operation.interruptible.includes(step.kind)) return work();
    const ended = await endOrLetGo(this.port, work, () => this.#stop !== null || company.failed);
    if (ended !== 'let go') return ended.value;
    throw this.#stop === null ? new LetGo() : new Stopped(this.#stop);
  }

  /** Looks again, and asks again, just before what cannot be undone; after a pause once more. */
  async #guardAgain(step: Step<T['command']>): Promise<void> {
    do {
      await this.safePoint();
      const observed = await this.observe();
      const { generation } = this.#lifecycle.served(observed);
      const guards = guardsKnowing(this.#lifecycle.guards, this.port.knows);
      if (generation > this.served.generation)
        throw new Stopped({ why: 'superseded', reason: `generation ${generation} is wanted now` });
      const verdicts = judgeStep(guards, observed, this.input.plan, step);
      const refused = verdicts.flatMap((verdict) => verdict.blocked)[0];
      if (refused !== undefined) {
        this.port.measures.guardBlocked({ lifecycle: this.#lifecycle.name, guard: refused.guard });
        throw failure('GuardBlocked', `${refused.guard}: ${refused.message}`);
      }
    } while (this.#hold !== null || this.#stop !== null);
  }

  /** Leaves the phases of the operation; a cancelled one first undoes, newest first, what it registered. */
  async windUp(stop: Stop): Promise<void> {
    this.#show(`${stop.why}: ${stop.reason}`);
    const failures: unknown[] = [];
    for (const { what, how } of stop.why === 'cancelled' ? this.#undo.toReversed() : []) {
      this.#show(`undoing: ${what}`);
      // What cannot be undone does not keep the rest from being undone.
      await how().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw gravest(failures);
    const { superseded, cancelled } = this.#lifecycle.events;
    const event = stop.why === 'cancelled' ? cancelled : superseded;
    // An operation that has reached nothing yet has no phase to leave, and its table may say so.
    if (this.#moved || transition(this.#lifecycle.table, this.#phase, event).moved)
      this.reached(event, stop.reason);
  }

  /** Ends the run: everything is written, counted and told. */
  async finish(
    outcome: Exclude<OperationResult['outcome'], 'failed'>,
    message: string,
    failed: Failure | null = null,
  ): Promise<OperationResult> {
    if (outcome === 'done' && this.#next < this.input.plan.steps.length) {
      throw new Error(`${this.#operation.name} left step ${this.input.plan.steps[this.#next]?.id} undone`);
    }
    await this.#flush();
    this.#show(outcome === 'done' ? null : `${outcome}: ${message}`);
    return this.#result(outcome, message, failed);
  }

  /** Counts the failure and says how far the run came; what follows from it is the entity's to decide. */
  async failed(failed: Failure): Promise<OperationResult> {
    if (this.#entityTellsEnd) await this.#flush();
    this.#show(`failed: ${failed.message}`);
    return this.#result('failed', failed.message, failed);
  }

  /** Says that a defect ends the run, and which. */
  async tellDefect(error: unknown): Promise<Failure> {
    const message = `${this.#operation.name} met a defect: ${error instanceof Error ? error.message : String(error)}`;
    this.#report(message);
    if (!this.#entityTellsEnd) await this.#flush();
    return { code: 'Defect', class: 'permanent', message };
  }

  #result(outcome: OperationResult['outcome'], message: string, failed: Failure | null): OperationResult {
    const { steps } = this.#progress;
    const durationMs = this.port.nowMs() - this.#startedAtMs;
    const labels = { lifecycle: this.#lifecycle.name, operation: this.#operation.name, outcome };
    this.port.measures.operationEnded(labels, durationMs / 1000);
    return {
      operation: this.#operation.name,
      outcome,
      message,
      failure: failed === null ? null : { code: failed.code, message: failed.message },
      steps: { done: steps.filter((step) => step.state === 'done').length, of: steps.length },
      phase: this.#phase,
      durationMs,
      stepSeconds: secondsByKind(steps),
      facts: this.#facts,
      ...(this.#entityTellsEnd ? { endToldBy: 'entity' as const } : {}),
    };
  }

  get #entityTellsEnd(): boolean {
    return this.input.endToldBy === 'entity';
  }

  /** Whatever takes time is where a status that was put down is written, side by side with it. */
  #startingWrites(
    port: OperationPort<T['activities']>,
  ): Pick<OperationPort<T['activities']>, 'act' | 'wait' | 'until'> {
    const first = <Args extends readonly unknown[], R>(go: (...args: Args) => R): ((...args: Args) => R) => {
      return (...args) => {
        this.#reporter.begin();
        return go(...args);
      };
    };
    return { act: first(port.act), wait: first(port.wait), until: first(port.until) };
  }

  /**
   * Waits until no status is being written any more: two writers would write over each other. The last one is the
   * entity's, who looks at the world anyway. A resource that has gone by then, as after a deletion, has no use for it.
   */
  async #flush(): Promise<void> {
    try {
      await (this.#entityTellsEnd ? this.#reporter.leave() : this.#reporter.flush());
    } catch (error) {
      if (failureOf(error)?.class !== 'stale') throw error;
    }
  }

  #report(message: string): void {
    const { name } = this.#operation;
    this.#reporter.put({
      observed: this.#observed,
      served: this.served,
      phase: this.#phase,
      message,
      reason: 'OperationRunning',
      operation: { name, workflowId: this.port.workflowId, startedAtMs: this.#startedAtMs },
      blocked: null,
      failure: null,
      paused: this.#hold !== null,
      carriedOut: this.input.carriedOut,
      last: null,
    });
  }

  /** Only a resource that is gone or another one ends the operation; a status that cannot be written does not. */
  async #write(view: View<T>): Promise<void> {
    try {
      await this.#reportPort.shielded(() => this.#lifecycle.report(this.#reportPort, view));
    } catch (error) {
      const failed = failureOf(error);
      if (failed === null || failed.class === 'stale') throw error;
      this.#show(`cannot write the status: ${failed.code}: ${failed.message}`);
    }
  }

  #show(note: string | null): void {
    this.port.show(renderTicks(`${this.#operation.name} (${this.#phase})`, this.#progress.steps, note));
  }
}
