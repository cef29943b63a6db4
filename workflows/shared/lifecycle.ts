import type { Failure } from './failure-codes.ts';
import type { Guard } from './guards.ts';
import type { Condition, OperationResult, ResourceRef } from './messages.ts';
import type { Command, Plan } from './plan.ts';
import type { Port } from './port.ts';
import type { TransitionTable } from './transitions.ts';

/** The types that one lifecycle is made of. */
export interface LifecycleTypes {
  readonly observed: object;
  readonly command: Command;
  readonly phase: string;
  readonly event: string;
  readonly activities: object;
}

/** Which resource an observation is of; operations serve exactly this uid and generation. */
export interface Served {
  readonly kind: string;
  readonly uid: string;
  readonly generation: number;
  readonly deleting: boolean;
  /** The phase that was last written to the resource, for an entity that has none of its own yet. */
  readonly phase: string | null;
  /** The newest generation whose wish was carried out to its end, as the resource says. */
  readonly carriedOut: number | null;
  /** Whether steps that cannot be undone wait for a person's approval. */
  readonly approvals: boolean;
}

/** What a decision may depend on beside the observation. */
export interface Remembered {
  readonly carriedOut: number | null;
  /** Whether a change of the code's decisions holds already: `knows('drain-first') ? newWay : oldWay`. */
  knows(change: string): boolean;
}

/** Everything that a status is built from. */
export interface View<T extends LifecycleTypes> {
  readonly observed: T['observed'];
  readonly served: Served;
  readonly phase: T['phase'];
  /** One sentence on what is going on or what is waited for. */
  readonly message: string;
  readonly reason: string;
  readonly operation: {
    readonly name: string;
    readonly workflowId: string;
    readonly startedAtMs: number;
  } | null;
  readonly blocked: string | null;
  readonly failure: Failure | null;
  readonly paused: boolean;
  readonly carriedOut: number | null;
  readonly last: OperationResult | null;
  /** It was seen before an operation, or an attempt, that has ended since. */
  readonly past?: true;
}

/** What a lifecycle brings; the loop and the runner do the rest. */
export interface Lifecycle<T extends LifecycleTypes> {
  readonly name: string;
  /** The kind of the resource that the entity owns, as hints name it. */
  readonly kind: string;
  readonly initialPhase: T['phase'];
  readonly table: TransitionTable<T['phase'], T['event']>;
  /** What the table's events are called for what every lifecycle goes through. */
  readonly events: {
    readonly failed: T['event'];
    readonly recovered: T['event'];
    readonly superseded: T['event'];
    readonly cancelled: T['event'];
  };
  readonly guards: readonly Guard<T['observed'], T['command']>[];
  /** The workflow type of each operation. */
  readonly operations: Readonly<Record<string, string>>;
  observe(port: Port<T['activities']>, ref: ResourceRef): Promise<T['observed'] | null>;
  served(observed: T['observed']): Served;
  /** The wish that a plan's operation serves, where it is not the entity's own resource: only a newer one supersedes it. */
  serves?(observed: T['observed'], plan: Plan<T['command']>): Served | null;
  /** Whether a cancellation that came too late for its operation has to be carried out by another run of it. */
  answersCancel?(observed: T['observed'], plan: Plan<T['command']>): boolean;
  plan(observed: T['observed'], remembered: Remembered): Plan<T['command']>;
  /**
   * What the observation alone says about the phase, while no operation runs: the events to go through, in order. The wish
   * may still be open, because it is blocked, paused or was cancelled.
   */
  settle(observed: T['observed'], phase: T['phase'], remembered: Remembered): readonly T['event'][];
  /** A loss that no plan can repair; the entity fails with it instead of planning. */
  lost(observed: T['observed'], remembered: Remembered): Failure | null;
  /** The name of an operation's row in the Web UI: what and why. */
  summary(observed: T['observed'], plan: Plan<T['command']>): string;
  conditions(view: View<T>): readonly Condition[];
  report(port: Port<T['activities']>, view: View<T>): Promise<void>;
  /** Tells people of a turning point, e.g. as a Kubernetes Event. */
  announce(port: Port<T['activities']>, view: View<T>, news: News): Promise<void>;
}

/** A turning point that a person should be told of. */
export interface News {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}
