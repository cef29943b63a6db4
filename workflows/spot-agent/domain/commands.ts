import type { Facts, Plan, Step } from '../../shared/plan.ts';
import type { Market } from './observation.ts';
import type { ClosingEvent } from './retirement.ts';

/** Everything that is ever done for a spot agent. */
export type SpotCommand =
  | {
      readonly kind: 'LaunchReplica';
      readonly replica: string;
      readonly instanceType: string;
      readonly az: string;
      readonly subnetId: string | null;
      readonly market: Market;
      readonly emergency: boolean;
    }
  | { readonly kind: 'AwaitReplica'; readonly replicas: readonly string[] }
  | {
      readonly kind: 'Promote';
      readonly instance: string;
      readonly epoch: number;
      readonly emergency: boolean;
    }
  | { readonly kind: 'ClearNotice'; readonly instance: string; readonly notice: string }
  | { readonly kind: 'CloseReplica'; readonly replica: string; readonly instance: string | null }
  | { readonly kind: 'AdoptInstance'; readonly replica: string; readonly instance: string }
  | { readonly kind: 'TerminateInstance'; readonly instance: string }
  | { readonly kind: 'ConfirmTerminated'; readonly instance: string }
  | { readonly kind: 'CloseInstance'; readonly instance: string; readonly event: ClosingEvent };

export type SpotStep = Step<SpotCommand>;
export type SpotPlan = Plan<SpotCommand>;

/** A step before it has a number: stages run in order, and what is in one stage runs at the same time. */
export type SpotDraft = SpotCommand & { readonly reason: string; readonly facts?: Facts };

/** The operations of the lifecycle. */
export type SpotOperation = 'fail-over' | 'launch-replica' | 'retire-instance' | 'sweep';

export const PLAN_VERSION = 1;

/** Numbers the steps of a plan. What ends an instance, or makes one PRIMARY, cannot be undone. */
export function buildPlan(operation: SpotOperation, stages: readonly (readonly SpotDraft[])[]): SpotPlan {
  const filled = stages.filter((stage) => stage.length > 0);
  let id = 0;
  const steps = filled.flatMap((stage, at) =>
    stage.map((draft): SpotStep => {
      id += 1;
      const irreversible = draft.kind === 'TerminateInstance' || draft.kind === 'Promote';
      return { id: String(id), group: at + 1, irreversible, ...draft };
    }),
  );
  return { operation, version: PLAN_VERSION, steps, totals: { steps: steps.length } };
}
