import type { LifecycleTypes, Served } from './lifecycle.ts';
import type { ResourceRef } from './messages.ts';
import type { PlanEnvelope } from './plan.ts';

/** What an operation is started with: all of it JSON, all of it readable in the Web UI. */
export interface OperationInput<T extends LifecycleTypes> {
  readonly ref: ResourceRef;
  readonly served: Served;
  readonly plan: PlanEnvelope<T['command']>;
  readonly phase: T['phase'];
  readonly observed: T['observed'];
  readonly carriedOut: number | null;
  readonly tuning?: Tuning;
  /** Who writes the status of the end. Runs that began before there was a choice write it themselves. */
  readonly endToldBy?: 'entity';
}

/** Times that tests and slow links set otherwise; they travel from an entity to its operations. */
export interface Tuning {
  readonly heartbeatTimeoutMs?: number;
  readonly retryInitialMs?: number;
  readonly retryMaximumMs?: number;
  readonly driftMs?: number;
  /** After how long a workflow task that a dead worker took is given to another. */
  readonly taskTimeoutMs?: number;
  /** The length of history after which an entity continues as new; otherwise when the server suggests it. */
  readonly longHistory?: number;
}
