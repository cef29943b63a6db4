import {
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  RetryState,
  TerminatedFailure,
} from '@temporalio/common';
import { failure } from '../../../workflows/shared/failures.ts';
import { Agenda } from './agenda.ts';
import { ScheduledActivity, type ActivityImplementation, type Faults } from './attempts.ts';
import { crossing } from './crossing.ts';
import { microtasksDone, type WorkflowCode } from './execution.ts';
import { isClosing, type Closing, type Command, type Ended, type Job } from './history.ts';
import { Journal } from './journal.ts';
import { Random } from './random.ts';
import { Run } from './run.ts';

/** What the simulated server is made with. */
export interface EngineOptions {
  readonly seed: string;
  readonly workflows: Readonly<Record<string, WorkflowCode>>;
  readonly activities: Readonly<Record<string, ActivityImplementation>>;
  readonly faults?: Faults;
  /** Sees everything that is done, as it is done, to judge whether it may be. */
  readonly watch?: (run: Run, command: Command) => void;
  /** After how many activations a run is told to continue as new. */
  readonly longHistory?: number;
}

export const NO_FAULTS: Faults = { lostAnswer: 0, frozen: 0, slow: 0 };

/** A small Temporal with a virtual clock: it runs the very code of the workflows, and replays it after every crash. */
export class Engine {
  readonly agenda = new Agenda();
  readonly journal = new Journal(() => this.agenda.nowMs);
  readonly random: Random;
  faults: Faults;
  readonly #runs = new Map<string, Run>();
  /** The last run of each workflow, which answers queries even when it has ended. */
  readonly #latest = new Map<string, Run>();
  readonly #ended: { readonly workflowId: string; readonly closing: Closing | 'terminated' }[] = [];
  readonly #options: EngineOptions;
  #workflows: EngineOptions['workflows'];
  #awayUntilMs = 0;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#workflows = options.workflows;
    this.random = new Random(options.seed);
    this.faults = options.faults ?? NO_FAULTS;
  }

  /** The runs that have not ended. */
  get open(): readonly Run[] {
    return [...this.#runs.values()];
  }

  /** The runs that have ended, in order, and how. */
  get ended(): readonly { readonly workflowId: string; readonly closing: Closing | 'terminated' }[] {
    return this.#ended;
  }

  find(workflowId: string): Run | null {
    return this.#runs.get(workflowId) ?? null;
  }

  /** Lets time pass until something holds; false when the virtual time is over first. */
  async until(holds: () => boolean, withinMs: number): Promise<boolean> {
    const deadlineMs = this.agenda.nowMs + withinMs;
    for (;;) {
      await microtasksDone();
      if (holds()) return true;
      const nextMs = this.agenda.nextMs;
      if (nextMs === null || nextMs > deadlineMs) {
        this.agenda.nowMs = deadlineMs;
        return holds();
      }
      await this.agenda.step();
    }
  }

  start(workflowType: string, workflowId: string, input: unknown, parent: Run | null = null): Run {
    const code = this.#workflows[workflowType];
    if (code === undefined) throw new Error(`there is no workflow ${workflowType}`);
    if (this.#runs.has(workflowId)) throw failure('OperationExists', `${workflowId} still runs`);
    const run = new Run({ workflowType, workflowId, input, parent, code });
    this.#runs.set(workflowId, run);
    this.#latest.set(workflowId, run);
    this.journal.note(`${workflowId} starts`);
    this.#deliver(run, { type: 'start' });
    return run;
  }

  signalWithStart(
    workflowType: string,
    workflowId: string,
    input: unknown,
    signal: { name: string; input: unknown },
  ): void {
    const run = this.find(workflowId) ?? this.start(workflowType, workflowId, input);
    this.#deliver(run, { type: 'signal', name: signal.name, input: crossing(signal.input, signal.name) });
  }

  signal(workflowId: string, name: string, input: unknown): void {
    const run = this.find(workflowId);
    if (run !== null) this.#deliver(run, { type: 'signal', name, input });
  }

  /** Sends an update and lets time pass until it is answered. */
  async update(workflowId: string, name: string, input?: unknown): Promise<string> {
    let answer: { readonly message: string } | { readonly refusal: string } | null = null;
    const run = this.find(workflowId);
    if (run === null) throw ApplicationFailure.nonRetryable(`${workflowId} does not run`, 'NotFound');
    this.#deliver(run, {
      type: 'update',
      name,
      input,
      answer: {
        accepted: (message) => void (answer ??= { message }),
        refused: (refusal) => void (answer ??= { refusal }),
      },
    });
    await this.until(() => answer !== null, 60_000);
    const given = answer as { readonly message: string } | { readonly refusal: string } | null;
    if (given === null) throw new Error(`${workflowId} does not answer to ${name}`);
    if ('refusal' in given) throw ApplicationFailure.nonRetryable(given.refusal, 'Refused');
    return given.message;
  }

  query(workflowId: string, name: string): unknown {
    return crossing(this.#latest.get(workflowId)?.query(name), `the answer to ${name}`);
  }

  cancel(workflowId: string): void {
    const run = this.find(workflowId);
    if (run !== null) this.#deliver(run, { type: 'cancel' });
  }

  terminate(workflowId: string): void {
    const run = this.find(workflowId);
    if (run === null) return;
    this.journal.note(`${workflowId} is terminated`);
    this.#bury(run, 'terminated');
    const terminated = this.#childFailure(run, new TerminatedFailure('terminated'));
    run.tellParent((parent, seq) => this.#resolve(parent, seq, terminated));
  }

  /** The worker process dies and comes back: everything in memory is rebuilt by replay. */
  async crash(awayMs: number): Promise<void> {
    this.journal.note(`the worker dies, for ${awayMs} ms`);
    this.#awayUntilMs = Math.max(this.#awayUntilMs, this.agenda.nowMs + awayMs);
    for (const run of this.open) {
      run.activities.forEach((activity) => activity.crash());
      const undone = await run.rebuild();
      if (undone.length > 0) this.#poll(run, undone);
    }
  }

  /** Deploys other code: open runs, parked ones too, go on with it. */
  async deploy(workflows: EngineOptions['workflows']): Promise<void> {
    this.#workflows = workflows;
    for (const run of this.open) {
      const code = workflows[run.workflowType];
      if (code === undefined) continue;
      const undone = await run.rebuild(code);
      if (undone.length > 0) this.#poll(run, undone);
    }
  }

  #deliver(run: Run, job: Job): void {
    run.inbox.push(job);
    this.#poll(run, []);
  }

  /** Gives a run its next task, unless it has one: everything that has come in by then goes with it. */
  #poll(run: Run, undone: readonly Job[]): void {
    run.inbox.unshift(...undone);
    if (run.polled || run.closed) return;
    run.polled = true;
    const task = async (): Promise<void> => {
      const awayMs = this.#awayUntilMs - this.agenda.nowMs;
      if (awayMs > 0) return this.agenda.in(awayMs + this.random.between(1, 20), task);
      run.polled = false;
      if (run.closed || run.defect !== null || run.busy || run.inbox.length === 0) return;
      await this.#work(run);
    };
    this.agenda.in(this.random.between(0, 10), task);
  }

  /** Runs one workflow task. Its commands count only once it is completed, and a crash before that undoes it. */
  async #work(run: Run): Promise<void> {
    const long = this.#options.longHistory;
    const task = await run.work(this.agenda.nowMs, long !== undefined && run.length >= long);
    if (task === 'parked') {
      this.journal.note(`${run.workflowId} is parked: ${run.defect?.message ?? ''}`);
      return;
    }
    this.agenda.in(this.random.between(0, 10), async () => {
      if (!run.isCurrent(task)) return;
      const closes = task.commands.some(isClosing);
      if (closes && run.inbox.length > 0) {
        // Temporal refuses to close a run that has not seen everything: the task is done again with all of it.
        this.#poll(run, await run.rebuild());
        return;
      }
      run.commit(task);
      for (const command of task.commands) this.#carryOut(run, command);
      if (run.inbox.length > 0) this.#poll(run, []);
    });
  }

  #carryOut(run: Run, command: Command): void {
    this.#options.watch?.(run, command);
    switch (command.type) {
      case 'activity':
        run.activities.set(command.seq, this.#schedule(run, command));
        break;
      case 'cancel-activity':
        run.activities.get(command.seq)?.cancel();
        break;
      case 'timer':
        this.agenda.in(command.ms, () => this.#resolve(run, command.seq, { value: undefined }));
        break;
      case 'child':
        this.#startChild(run, command);
        break;
      case 'cancel-child': {
        const child = run.children.get(command.seq);
        if (child !== undefined && !child.closed) this.#deliver(child, { type: 'cancel' });
        break;
      }
      case 'signal-child': {
        const child = run.children.get(command.childSeq);
        if (child !== undefined && !child.closed) {
          this.#deliver(child, { type: 'signal', name: command.name, input: command.input });
        }
        this.agenda.in(1, () => this.#resolve(run, command.seq, { value: undefined }));
        break;
      }
      case 'signal-parent':
        run.tellParent((parent) => {
          const { name, input } = command;
          if (!parent.closed) this.#deliver(parent, { type: 'signal', name, input });
        });
        this.agenda.in(1, () => this.#resolve(run, command.seq, { value: undefined }));
        break;
      case 'index':
        run.indexed = command.indexed;
        break;
      case 'change':
        // History keeps it, and that is all.
        break;
      default:
        this.#close(run, command);
    }
  }

  #schedule(run: Run, command: Extract<Command, { type: 'activity' }>): ScheduledActivity {
    return new ScheduledActivity(run.workflowId, command, {
      agenda: this.agenda,
      random: this.random.fork(`${run.workflowId}/${run.number}/${command.seq}`),
      faults: this.faults,
      awayMs: () => this.#awayUntilMs - this.agenda.nowMs,
      implementation: () => this.#options.activities[command.name],
      note: (text) => this.journal.note(text),
      ended: (ended) => {
        run.activities.delete(command.seq);
        this.#resolve(run, command.seq, ended);
      },
    });
  }

  #startChild(run: Run, { seq, endSeq, start }: Extract<Command, { type: 'child' }>): void {
    try {
      const child = this.start(start.workflowType, start.workflowId, start.input, run);
      child.indexed = start.indexed;
      child.summary = start.summary;
      child.endSeq = endSeq;
      run.children.set(seq, child);
      this.#resolve(run, seq, { value: undefined });
    } catch (error) {
      this.#resolve(run, seq, { error: error instanceof Error ? error : new Error(String(error)) });
    }
  }

  #close(run: Run, closing: Closing): void {
    this.journal.note(`${run.workflowId} ends: ${closing.type}`);
    if (closing.type === 'continue-as-new') {
      if ([...run.children.values()].some((child) => !child.closed)) {
        this.journal.violation(`${run.workflowId} continued as new with an open child`);
      }
      this.#bury(run, closing);
      const next = run.next(closing.input);
      this.#runs.set(run.workflowId, next);
      this.#latest.set(run.workflowId, next);
      this.#deliver(next, { type: 'start' });
      return;
    }
    this.#bury(run, closing);
    run.tellParent((parent, seq) => this.#resolve(parent, seq, this.#endOf(run, closing)));
  }

  #bury(run: Run, closing: Closing | 'terminated'): void {
    run.close();
    this.#runs.delete(run.workflowId);
    this.#ended.push({ workflowId: run.workflowId, closing });
    for (const child of run.children.values()) if (!child.closed) this.terminate(child.workflowId);
  }

  #endOf(run: Run, closing: Closing): Ended {
    if (closing.type === 'complete') return { value: closing.result };
    return this.#childFailure(
      run,
      closing.type === 'fail' ? closing.error : new CancelledFailure('cancelled'),
    );
  }

  #childFailure(run: Run, cause: Error): { readonly error: Error } {
    const { workflowId, workflowType } = run;
    const { NON_RETRYABLE_FAILURE } = RetryState;
    const execution = { workflowId, runId: String(run.number) };
    return {
      error: new ChildWorkflowFailure(undefined, execution, workflowType, NON_RETRYABLE_FAILURE, cause),
    };
  }

  #resolve(run: Run, seq: number, ended: Ended): void {
    if (!run.closed) this.#deliver(run, { type: 'resolve', seq, ended });
  }
}
