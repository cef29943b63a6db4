import { hashJson, type Command, type Plan, type Step } from './plan.ts';

/** What a person has agreed to: the plan's hash and the steps in it that cannot be undone. */
export interface Approved {
  readonly hash: string;
  readonly by: string;
  readonly steps: readonly string[];
  /** Whether no operation ran when it was given: the one that carries the plan out is told of it then, once. */
  readonly ahead?: boolean;
}

/** The steps of a plan that cannot be undone, each as a hash of what it does. */
export const irreversibleSteps = (plan: Plan<Command>): readonly string[] =>
  plan.steps.filter((step) => step.irreversible).map(hashStep);

/** Whether a plan needs no (further) approval: all that cannot be undone in it was agreed to before. */
export function isApproved(plan: Plan<Command>, approved: Approved | null): boolean {
  const steps = irreversibleSteps(plan);
  return steps.every((step) => approved?.steps.includes(step) ?? false);
}

/** Whether it was given for this very plan before its operation ran, which so has not heard of it. */
export const isAhead = (approved: Approved | null, { hash }: { readonly hash: string }): boolean =>
  approved?.ahead === true && approved.hash === hash;

/** Hashes what a step does, without its number in the plan, which may change from plan to plan. */
function hashStep(step: Step<Command>): string {
  const {
    id: _id,
    group: _group,
    reason: _reason,
    facts: _facts,
    irreversible: _irreversible,
    ...does
  } = step;
  return hashJson(does);
}
