import type {
  EntityStatus,
  Hint,
  OperationProgress,
  OperationResult,
  ResourceRef,
} from '../../workflows/shared/messages.ts';
import type { Command, PlanEnvelope } from '../../workflows/shared/plan.ts';
import type { LampWorld } from './lamp-row/world.ts';

/** How an operation ended. */
export interface OperationEnd {
  readonly workflowId: string;
  readonly operation: string;
  readonly status: 'completed' | 'failed' | 'cancelled' | 'terminated';
  readonly result: OperationResult | null;
}

/** A place where the example is played: the simulator or a Temporal server. The same tests run on both. */
export interface Theatre {
  readonly world: LampWorld;
  /** Tells the entity of a row that something changed, and starts it if need be; by default what a watch would tell. */
  hint(ref: ResourceRef, hint?: Hint | null): Promise<void>;
  /** Starts a workflow under any id with any input, and waits for its end. */
  execute(workflowType: string, workflowId: string, input: unknown): Promise<unknown>;
  signal(workflowId: string, name: string, input: unknown): Promise<void>;
  /** Sends an update; a refusal is thrown with its words. */
  update(ref: ResourceRef, name: string, input?: unknown): Promise<string>;
  status(ref: ResourceRef): Promise<EntityStatus>;
  plan(ref: ResourceRef): Promise<PlanEnvelope<Command> | null>;
  progress(workflowId: string): Promise<OperationProgress>;
  isOpen(workflowId: string): Promise<boolean>;
  /** The operations of a row that have ended, oldest first. */
  ended(ref: ResourceRef): Promise<readonly OperationEnd[]>;
  cancel(workflowId: string): Promise<void>;
  terminate(workflowId: string): Promise<void>;
  /** Lets time pass until something holds; fails with these words when it never does. */
  until(what: string, holds: () => boolean | Promise<boolean>): Promise<void>;
  close(): Promise<void>;
}
