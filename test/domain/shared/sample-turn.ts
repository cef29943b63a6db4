import type { Failure } from '../../../workflows/shared/failure-codes.ts';
import type { Served } from '../../../workflows/shared/lifecycle.ts';
import { freshlyCarried, type Carried, type Failed } from '../../../workflows/shared/memory.ts';
import {
  envelope,
  type Command,
  type Plan,
  type PlanEnvelope,
  type Step,
} from '../../../workflows/shared/plan.ts';

/** A command with parameters of every sort. */
export interface SampleCommand extends Command {
  readonly socket?: number;
  readonly ranges?: readonly (readonly [number, number])[];
}

export const served: Served = {
  kind: 'LampRow',
  uid: 'uid-1',
  generation: 3,
  deleting: false,
  phase: null,
  carriedOut: null,
  approvals: false,
};

export const carried: Carried = { ...freshlyCarried, uid: 'uid-1', phase: 'Lit' };

export const sampleStep = (
  id: string,
  command: SampleCommand,
  irreversible = false,
): Step<SampleCommand> => ({ id, group: 1, reason: 'because', irreversible, ...command });

export const samplePlan = (...steps: readonly Step<SampleCommand>[]): Plan<SampleCommand> => ({
  operation: steps.length === 0 ? 'none' : 'dim',
  version: 1,
  steps,
  totals: { steps: steps.length },
});

export const sampleEnvelope = (
  plan: Plan<SampleCommand>,
  blocked: PlanEnvelope<SampleCommand>['blocked'] = [],
): PlanEnvelope<SampleCommand> => envelope('lamp-row', 'default/a', plan, { blocked, unknown: [] });

export const forbidden: Failure = { code: 'KubernetesForbidden', class: 'permanent', message: 'no right' };
export const unavailable: Failure = { code: 'KubernetesUnavailable', class: 'transient', message: 'away' };

/** A failure that is remembered of the generation that is served. */
export const remembered = (change: Partial<Failed>): Failed => ({
  failure: unavailable,
  generation: 3,
  inARow: 1,
  after: { next: 'back-off', delayMs: 2_000 },
  untilMs: 12_000,
  found: false,
  entered: false,
  ...change,
});
