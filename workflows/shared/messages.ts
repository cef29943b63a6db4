import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Command, Facts, Json, PlanEnvelope } from './plan.ts';

/** The resource that an entity owns; also all that a person has to type to start one. */
export interface ResourceRef {
  readonly namespace: string;
  readonly name: string;
}

/** Something changed: never the state itself. Only a newer generation, or the deletion, of the resource served supersedes. */
export interface Hint {
  readonly kind: string;
  readonly uid: string;
  readonly generation: number;
}

/** A condition as Kubernetes writes it, without the time, which the writer keeps honest. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
}

/** One line of a running operation. */
export interface StepProgress {
  readonly id: string;
  readonly kind: string;
  readonly reason: string;
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'skipped';
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly facts?: Facts;
}

/** What an entity answers to `status`: enough for a person, a watch command and a test. */
export interface EntityStatus {
  readonly resource: string;
  readonly uid: string | null;
  readonly generation: number;
  readonly phase: string;
  readonly message: string;
  readonly conditions: readonly Condition[];
  readonly paused: { readonly reason: string } | null;
  /** Why it waits and for what, when it does. */
  readonly waiting: {
    readonly on: 'approval' | 'guard' | 'back-off' | 'change' | 'cancelled' | 'pause' | 'drift';
    readonly message: string;
    readonly untilMs: number | null;
  } | null;
  /** The operation that runs; its own `progress` query has the steps. */
  readonly operation: {
    readonly name: string;
    readonly workflowId: string;
    readonly startedAtMs: number;
  } | null;
  readonly last: OperationResult | null;
}

/** What a running operation answers to `progress`. */
export interface OperationProgress {
  readonly operation: string;
  readonly phase: string;
  readonly steps: readonly StepProgress[];
  /** Why it stands still, when it does. */
  readonly waiting: string | null;
  readonly stopping: string | null;
}

/** What an operation ends with: a small JSON that a person reads. */
export interface OperationResult {
  readonly operation: string;
  readonly outcome: 'done' | 'superseded' | 'cancelled' | 'failed' | 'blocked';
  readonly message: string;
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly steps: { readonly done: number; readonly of: number };
  /** Where the resource's phase stands now. */
  readonly phase: string;
  readonly durationMs: number;
  readonly stepSeconds: Readonly<Record<string, number>>;
  readonly facts: Facts;
  /** Who writes the status of the end; a run that does not say so has written it itself. */
  readonly endToldBy?: 'entity';
}

export interface Approval {
  readonly hash: string;
  readonly by: string;
  readonly reason: string;
}

/** Asks an operation to end at its next safe point; a cancelled one undoes what it can. */
export interface Stop {
  readonly why: 'superseded' | 'cancelled';
  readonly reason: string;
}

export const stop = defineSignal<[Stop]>('stop');
export const hold = defineSignal<[{ readonly reason: string }]>('hold');
export const release = defineSignal('release');
/** What a workflow and its children tell each other, in the words of their lifecycle. */
export const news = defineSignal<[Json]>('news');
export const progress = defineQuery<OperationProgress>('progress');

export const hint = defineSignal<[Hint]>('hint');
export const status = defineQuery<EntityStatus>('status');
export const plan = defineQuery<PlanEnvelope<Command> | null>('plan');
export const approve = defineUpdate<{ readonly message: string }, [Approval]>('approve');
export const pause = defineUpdate<{ readonly message: string }, [{ readonly reason: string }]>('pause');
export const resume = defineUpdate<{ readonly message: string }>('resume');
export const cancelOperation = defineUpdate<{ readonly message: string }, [{ readonly reason: string }]>(
  'cancelOperation',
);
export const retry = defineUpdate<{ readonly message: string }>('retry');

/** The search attributes that every run of Keelson carries, all keywords. */
export const SEARCH_ATTRIBUTES = {
  kind: 'KeelsonKind',
  namespace: 'KeelsonNamespace',
  name: 'KeelsonName',
  phase: 'KeelsonPhase',
  operation: 'KeelsonOperation',
} as const;

export const TASK_QUEUE = 'keelson';

/** The entity's id, which is also its mutex. */
export const entityId = (lifecycle: string, ref: ResourceRef): string =>
  `${lifecycle}/${ref.namespace}/${ref.name}`;

/** The id of one operation: a wish of the spec is carried out once for each uid and generation. */
export const operationId = (
  entity: string,
  operation: string,
  served: { readonly uid: string; readonly generation: number; readonly turn: number },
): string => `${entity}/${operation}/${served.uid.slice(0, 8)}-${served.generation}.${served.turn}`;
