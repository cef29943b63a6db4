import type { Approval, EntityStatus, Hint, OperationProgress, ResourceRef, Stop } from './messages.ts';
import type { Command, Json, PlanEnvelope } from './plan.ts';

/** What the search attributes of a run say; null leaves an attribute empty. */
export interface Indexed {
  readonly kind: string;
  readonly ref: ResourceRef;
  readonly phase: string;
  readonly operation: string | null;
}

/** How a child is started, and what its row in the Web UI reads. */
export interface ChildStart {
  readonly workflowType: string;
  readonly workflowId: string;
  readonly summary: string;
  readonly input: Json;
  readonly indexed: Indexed;
}

/** A running child. Messages to one that has just ended are dropped: its result says what happened. */
export interface Child {
  result(): Promise<unknown>;
  stop(stop: Stop): Promise<void>;
  hold(reason: string): Promise<void>;
  release(): Promise<void>;
  /** Says something in the words of the lifecycle, which the child hears. */
  tell(news: Json): Promise<void>;
}

/** Counts and times that become metrics; a repetition on replay is not counted. */
export interface Measures {
  operationEnded(
    labels: { readonly lifecycle: string; readonly operation: string; readonly outcome: string },
    seconds: number,
  ): void;
  stepEnded(
    labels: { readonly lifecycle: string; readonly kind: string; readonly outcome: string },
    seconds: number,
  ): void;
  guardBlocked(labels: { readonly lifecycle: string; readonly guard: string }): void;
  waited(labels: { readonly lifecycle: string; readonly on: string }, seconds: number): void;
}

/** Everything through which loop, runner and operations reach the world: Temporal in service, a simulator in tests. */
export interface Port<Activities> {
  readonly workflowId: string;
  /** Activities that end within a minute; the summary is what the Web UI shows. */
  act(summary: string): Activities;
  /** Activities that may wait for hours and heartbeat meanwhile. */
  wait(summary: string): Activities;
  nowMs(): number;
  /** A number from 0 to 1 that replays the same. */
  random(): number;
  /** True once the condition holds, false when the time is over first. */
  until(
    ready: () => boolean,
    options: { readonly summary: string; readonly timeoutMs?: number },
  ): Promise<boolean>;
  /**
   * Whether a change of what is decided holds at this moment: not while turns are replayed that were decided without it.
   * Replay decides again, so that a plan or a guard which answers otherwise would leave a run that waits not knowing
   * where it is.
   */
  knows(change: string): boolean;
  /** Runs work of which one can let go: its activities are then cancelled, and its end comes when theirs has. */
  cancellable<T>(work: () => Promise<T>): { readonly end: Promise<T>; cancel(): void };
  /** Runs work that goes on even when the workflow itself was cancelled. */
  shielded<T>(work: () => Promise<T>): Promise<T>;
  /** Shows what is going on, as Markdown, at the top of the run's page. */
  show(details: string): void;
  index(indexed: Indexed): void;
  readonly measures: Measures;
}

/** An update is first judged, synchronously and in words, and only then done. */
export interface UpdateHandler<Input> {
  /** The refusal, or null to accept. */
  refuse(input: Input): string | null;
  accept(input: Input): string;
}

/** The messages that every entity answers. */
export interface EntityHandlers {
  hint(hint: Hint): void;
  status(): EntityStatus;
  plan(): PlanEnvelope<Command> | null;
  readonly approve: UpdateHandler<Approval>;
  readonly pause: UpdateHandler<{ readonly reason: string }>;
  readonly resume: UpdateHandler<undefined>;
  readonly cancelOperation: UpdateHandler<{ readonly reason: string }>;
  readonly retry: UpdateHandler<undefined>;
}

/** What the entity loop needs beside it. */
export interface EntityPort<Activities> extends Port<Activities> {
  serve(handlers: EntityHandlers): void;
  startChild(start: ChildStart): Promise<Child>;
  /** Whether the history has grown so long that the next run should start afresh. */
  shouldContinueAsNew(): boolean;
  /** Starts the next run once no message is being handled any more. */
  continueAsNew(input: Json): Promise<never>;
}

/** The messages that every operation answers. */
export interface OperationHandlers {
  stop(stop: Stop): void;
  hold(reason: string): void;
  release(): void;
  progress(): OperationProgress;
}

/** What the operation runner needs beside it. */
export interface OperationPort<Activities> extends Port<Activities> {
  serve(handlers: OperationHandlers): void;
  /** Whether somebody asked Temporal itself to cancel the run. */
  cancelled(): boolean;
  /** Starts a part of the operation that has a history of its own. */
  startChild(start: ChildStart): Promise<Child>;
  /** Says something to the workflow that started this one; one that has just ended does not hear it. */
  tellParent(news: Json): Promise<void>;
  /** Hears what children, and the workflow that started this one, tell. */
  hear(handler: (news: Json) => void): void;
}
