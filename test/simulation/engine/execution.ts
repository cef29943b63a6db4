import { CancelledFailure, TemporalFailure } from '@temporalio/common';
import type { Json } from '../../../workflows/shared/plan.ts';
import { crossing } from './crossing.ts';
import type { Activation, Command, Ended, Job } from './history.ts';
import { ContinueAsNew, simulatedPort, type Handlers, type SimulatedPort } from './port.ts';
import { Random } from './random.ts';
import { currentScope, runInScope, Scope } from './scope.ts';

/** A workflow's code, given the port that it reaches the world through. */
export type WorkflowCode = (port: SimulatedPort, input: Json) => Promise<unknown>;

interface Condition {
  readonly ready: () => boolean;
  readonly resolve: (held: boolean) => void;
  readonly timerSeq: number | null;
}

/** One incarnation of a workflow's code: it is told things, and says what it wants done. Replay builds another one. */
export class Execution {
  readonly workflowId: string;
  readonly random: Random;
  readonly #root = new Scope(null);
  readonly #pending = new Map<number, (ended: Ended) => void>();
  readonly #begin: (port: SimulatedPort) => Promise<unknown>;
  #conditions: Condition[] = [];
  #commands: Command[] = [];
  #seq = 0;
  #defect: Error | null = null;
  handlers: Handlers = {};
  #hear: ((news: Json) => void) | null = null;
  #unheard: Json[] = [];
  readonly #known = new Set<string>();
  #replayed: ReadonlySet<string> | null = null;
  details = '';
  nowMs = 0;
  continueAsNewSuggested = false;

  constructor(workflowId: string, number: number, code: WorkflowCode, input: unknown) {
    this.workflowId = workflowId;
    this.random = new Random(`${workflowId}#${number}`);
    // The payload converter made JSON of it.
    this.#begin = async (port) => code(port, input as Json);
  }

  /** Tells the code what happened, lets it run until it waits for something again, and gives what it wants done. */
  async activate(
    activation: Activation,
    /** In a replay, the changes that were known when this was first done. */
    replayed: ReadonlySet<string> | null = null,
  ): Promise<readonly Command[]> {
    this.#commands = [];
    this.#replayed = replayed;
    this.nowMs = activation.atMs;
    this.continueAsNewSuggested = activation.continueAsNewSuggested;
    const messages = activation.jobs.filter(isMessage);
    const rest = activation.jobs.filter((job) => !isMessage(job));
    // As in Temporal, messages are handled before anything else that came in with them, except the very start.
    for (const jobs of [rest.filter(isStart), messages, rest.filter((job) => !isStart(job))]) {
      runInScope(this.#root, () => jobs.forEach((job) => this.#tell(job)));
      if (jobs.length > 0) await this.#settle();
    }
    if (this.#defect !== null) throw this.#defect;
    return this.#commands;
  }

  emit(command: Command): void {
    this.#commands.push(command);
  }

  /** As Temporal's `patched`: what is done for the first time knows every change, and history keeps that it did. */
  knows(change: string): boolean {
    if (this.#replayed !== null && !this.#replayed.has(change)) return false;
    if (!this.#known.has(change)) this.emit({ type: 'change', change });
    this.#known.add(change);
    return true;
  }

  /** As in Temporal, what was told before anybody listened is heard by the first who does. */
  hear(handler: (news: Json) => void): void {
    this.#hear = handler;
    this.#unheard.splice(0).forEach(handler);
  }

  nextSeq(): number {
    this.#seq += 1;
    return this.#seq;
  }

  get cancelRequested(): boolean {
    return this.#root.cancelled;
  }

  /** A promise of what the engine will answer to a command. */
  answerTo(seq: number, onCancel: () => void): Promise<unknown> {
    const scope = currentScope();
    return new Promise((resolve, reject) => {
      this.#pending.set(seq, (ended) => ('error' in ended ? reject(ended.error) : resolve(ended.value)));
      scope.onCancel(() => {
        if (this.#pending.has(seq)) onCancel();
      });
    });
  }

  /** Waits as Temporal's `condition` does. */
  until(ready: () => boolean, timeoutMs: number | undefined, summary: string): Promise<boolean> {
    const scope = currentScope();
    if (scope.cancelled) return Promise.reject(new CancelledFailure('Cancellation scope was cancelled'));
    if (ready()) return Promise.resolve(true);
    const timerSeq = timeoutMs === undefined ? null : this.nextSeq();
    return new Promise((resolve, reject) => {
      const condition = { ready, resolve, timerSeq };
      this.#conditions.push(condition);
      if (timerSeq !== null && timeoutMs !== undefined) {
        this.emit({ type: 'timer', seq: timerSeq, ms: timeoutMs, summary });
        this.#pending.set(timerSeq, () => {
          if (this.#drop(condition)) resolve(false);
        });
      }
      scope.onCancel(() => {
        if (this.#drop(condition)) reject(new CancelledFailure('Cancellation scope was cancelled'));
      });
    });
  }

  #drop(condition: Condition): boolean {
    const before = this.#conditions.length;
    this.#conditions = this.#conditions.filter((one) => one !== condition);
    return this.#conditions.length < before;
  }

  #tell(job: Job): void {
    switch (job.type) {
      case 'start':
        void this.#live();
        break;
      case 'resolve': {
        const settle = this.#pending.get(job.seq);
        this.#pending.delete(job.seq);
        settle?.(job.ended);
        break;
      }
      case 'signal':
        if (job.name === 'news') this.#news(job.input as Json);
        else this.handlers.signal?.(job.name, job.input);
        break;
      case 'update':
        job.answer.accepted(this.handlers.accept?.(job.name, job.input) ?? '');
        break;
      case 'cancel':
        this.#root.cancel();
        break;
    }
  }

  #news(news: Json): void {
    if (this.#hear === null) this.#unheard.push(news);
    else this.#hear(news);
  }

  async #live(): Promise<void> {
    try {
      const result = await this.#begin(simulatedPort(this));
      this.emit({ type: 'complete', result: crossing(result, `the result of ${this.workflowId}`) });
    } catch (error) {
      if (error instanceof ContinueAsNew) this.emit({ type: 'continue-as-new', input: error.input });
      else if (error instanceof CancelledFailure && this.cancelRequested) this.emit({ type: 'cancelled' });
      else if (error instanceof TemporalFailure) this.emit({ type: 'fail', error });
      else this.#defect = error instanceof Error ? error : new Error(String(error));
    }
  }

  /** Runs until nothing moves any more: microtasks, then conditions, as often as it takes. */
  async #settle(): Promise<void> {
    for (;;) {
      await microtasksDone();
      const ripe = this.#conditions.filter((condition) => condition.ready());
      if (ripe.length === 0) return;
      for (const condition of ripe) {
        if (this.#drop(condition)) condition.resolve(true);
      }
    }
  }
}

/** Resolves once everything that can run now has run. */
export const microtasksDone = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const isMessage = (job: Job): boolean => job.type === 'signal' || job.type === 'update';
const isStart = (job: Job): boolean => job.type === 'start';
