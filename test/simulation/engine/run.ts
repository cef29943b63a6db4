import type { Indexed } from '../../../workflows/shared/port.ts';
import type { ScheduledActivity } from './attempts.ts';
import { Execution, type WorkflowCode } from './execution.ts';
import { commandText, type Activation, type Command, type Job } from './history.ts';

interface Task {
  readonly activation: Activation;
  readonly commands: readonly Command[];
}

interface RunOptions {
  readonly workflowType: string;
  readonly workflowId: string;
  readonly input: unknown;
  readonly parent: Run | null;
  readonly code: WorkflowCode;
  readonly number?: number;
}

/** One run of a workflow as the server keeps it: its history, from which its code can be replayed at any time. */
export class Run {
  readonly workflowType: string;
  readonly workflowId: string;
  readonly number: number;
  readonly inbox: Job[] = [];
  readonly activities = new Map<number, ScheduledActivity>();
  readonly children = new Map<number, Run>();
  readonly #options: RunOptions;
  readonly #history: Task[] = [];
  readonly #early: Job[] = [];
  #code: WorkflowCode;
  #execution: Execution;
  #task: Task | null = null;
  #undone: readonly Job[] = [];
  summary = '';
  indexed: Indexed | null = null;
  endSeq = 0;
  polled = false;
  closed = false;
  defect: Error | null = null;

  constructor(options: RunOptions) {
    this.#options = options;
    this.workflowType = options.workflowType;
    this.workflowId = options.workflowId;
    this.number = options.number ?? 1;
    this.#code = options.code;
    this.#execution = this.#incarnate();
  }

  /** How many tasks it has had. */
  get length(): number {
    return this.#history.length;
  }

  get busy(): boolean {
    return this.#task !== null;
  }

  get details(): string {
    return this.#execution.details;
  }

  /** The next run of the same workflow. */
  next(input: unknown): Run {
    const next = new Run({ ...this.#options, code: this.#code, input, number: this.number + 1 });
    next.endSeq = this.endSeq;
    next.indexed = this.indexed;
    next.summary = this.summary;
    return next;
  }

  /** Whether its code has said which messages it takes. */
  get answers(): boolean {
    return this.#execution.handlers.query !== undefined;
  }

  query(name: string): unknown {
    return this.#execution.handlers.query?.(name);
  }

  /** Runs the code on everything that has come in. What it throws parks the run, which loses nothing of it. */
  async work(atMs: number, continueAsNewSuggested: boolean): Promise<Task | 'parked'> {
    const jobs = this.inbox.splice(0).filter((job) => this.#admit(job));
    // Updates that come before the code has said which it takes are kept for the next task.
    this.inbox.push(...this.#early.splice(0));
    const activation = { atMs, jobs, continueAsNewSuggested };
    try {
      const commands = await this.#execution.activate(activation);
      this.#task = { activation, commands };
      return this.#task;
    } catch (error) {
      this.defect = error instanceof Error ? error : new Error(String(error));
      this.#undone = jobs;
      return 'parked';
    }
  }

  isCurrent(task: Task): boolean {
    return this.#task === task && !this.closed;
  }

  commit(task: Task): void {
    this.#history.push(task);
    this.#task = null;
  }

  /** Forgets everything but the history and replays it; gives back what the undone task had taken in. */
  async rebuild(code: WorkflowCode = this.#code): Promise<readonly Job[]> {
    const undone = this.#task?.activation.jobs ?? this.#undone;
    this.#task = null;
    this.#undone = [];
    this.defect = null;
    this.#code = code;
    this.#execution = this.#incarnate();
    const known = new Set<string>();
    for (const { activation, commands } of this.#history) {
      for (const command of commands) if (command.type === 'change') known.add(command.change);
      const again = (await this.#execution.activate(activation, known)).map(commandText);
      const recorded = commands.map(commandText);
      const at = recorded.findIndex((text, index) => text !== again[index]);
      if (at >= 0 || again.length !== recorded.length) {
        const index = at < 0 ? recorded.length : at;
        throw new Error(
          `${this.workflowId} does not replay: it wanted ${recorded[index] ?? 'nothing'} and now wants ${again[index] ?? 'nothing'}`,
        );
      }
    }
    return undone;
  }

  close(): void {
    this.closed = true;
    this.activities.forEach((activity) => activity.abandon());
    for (const job of this.inbox) if (job.type === 'update') job.answer.refused('the workflow has ended');
  }

  tellParent(tell: (parent: Run, seq: number) => void): void {
    const { parent } = this.#options;
    if (parent !== null) tell(parent, this.endSeq);
  }

  /** A refused update leaves no trace: neither in the state nor in the history. */
  #admit(job: Job): boolean {
    if (job.type !== 'update') return true;
    if (this.#history.length === 0) {
      this.#early.push(job);
      return false;
    }
    const refusal = this.#execution.handlers.refuse?.(job.name, job.input) ?? null;
    if (refusal !== null) job.answer.refused(refusal);
    return refusal === null;
  }

  #incarnate(): Execution {
    return new Execution(this.workflowId, this.number, this.#code, this.#options.input);
  }
}
