import { sha256Hex } from './sha256.ts';

/** Anything that JSON can hold: all that crosses Temporal or a plan's hash. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** Measured values beside a step or a result: they change by themselves, so no hash covers them. */
export type Facts = Readonly<Record<string, string | number | boolean | null>>;

/** What every step has beside its command's own parameters. */
export interface StepHeader {
  readonly id: string;
  /** Steps of one group may run at the same time; groups run in order. */
  readonly group: number;
  /** Why the step is there, in words that a person reads. */
  readonly reason: string;
  /** Such a step is guarded again, on a fresh observation, just before it runs. */
  readonly irreversible: boolean;
  readonly facts?: Facts;
}

/** A command is a kind with its parameters, flat. */
export interface Command {
  readonly kind: string;
}

/** One thing to do, with the reason for it. */
export type Step<C extends Command> = StepHeader & C;

/** What is to be done, in order. It is data: it can be read, compared and approved before it runs. */
export interface Plan<C extends Command> {
  readonly operation: string;
  readonly version: number;
  readonly steps: readonly Step<C>[];
  readonly totals: Facts;
}

/** A guard's refusal as a person reads it; `step` is null when the whole plan is blocked. */
export interface Blocked {
  readonly step: string | null;
  readonly guard: string;
  readonly message: string;
}

/** A guard that could not be asked, because the observation lacks its facts. */
export interface Unknown {
  readonly guard: string;
  readonly needs: string;
}

/** The one form in which queries, dry runs and the command line give a plan. */
export interface PlanEnvelope<C extends Command> extends Plan<C> {
  readonly lifecycle: string;
  readonly resource: string;
  readonly blocked: readonly Blocked[];
  readonly unknown: readonly Unknown[];
  readonly hash: string;
}

const HEADER_KEYS: ReadonlySet<string> = new Set(['group', 'reason', 'irreversible', 'facts']);

/** The hash that an approval names: over what will be done, never over reasons or measured facts. */
export function hashPlan<C extends Command>(lifecycle: string, resource: string, plan: Plan<C>): string {
  const steps = plan.steps.map((step) =>
    Object.fromEntries(Object.entries(step).filter(([key]) => !HEADER_KEYS.has(key))),
  );
  return hashJson({
    lifecycle,
    resource,
    operation: plan.operation,
    version: plan.version,
    steps: steps as Json,
  });
}

/** Hashes any JSON value, independent of the order of its keys. */
export const hashJson = (value: Json): string => `sha256:${sha256Hex(canonicalJson(value))}`;

/** JSON with sorted keys and without absent values, so that equal values have equal text. */
export function canonicalJson(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonicalJson(item)).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`);
    return `{${entries.join(',')}}`;
  }
  return JSON.stringify(value ?? null);
}

/** The plan that does nothing. */
export const emptyPlan = (version: number): Plan<never> => ({
  operation: 'none',
  version,
  steps: [],
  totals: { steps: 0 },
});

/** Wraps a plan with what the guards say of it, and its hash. */
export function envelope<C extends Command>(
  lifecycle: string,
  resource: string,
  plan: Plan<C>,
  judged: { readonly blocked: readonly Blocked[]; readonly unknown: readonly Unknown[] },
): PlanEnvelope<C> {
  return { lifecycle, resource, ...plan, ...judged, hash: hashPlan(lifecycle, resource, plan) };
}
