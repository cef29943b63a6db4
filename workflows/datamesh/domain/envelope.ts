import { hashJson, type Json } from '../../shared/plan.ts';
import { renderCommand } from './command-text.ts';
import { KERNEL_FACTS } from './kernels.ts';
import { PLAN_VERSION, type DatameshPlan, type Placed } from './plan.ts';
import type { PlannedStep } from './steps.ts';

/** One step as scripts read it. */
export interface EnvelopeStep {
  readonly from: string | null;
  readonly to: string | null;
  readonly q: number;
  readonly qmr: number;
  readonly confirm: readonly string[];
  readonly commands: Readonly<Record<string, readonly string[]>>;
  /** One node after another, in the order of `commands`; else all at once. */
  readonly rolling: boolean;
  readonly wait: string | null;
  readonly irreversible: boolean;
  /** What the member is after the step, which for a while may be `to` without its disk. */
  readonly leaves: string | null;
  /** The steps to a safe point when a member is lost here; empty where this is one. */
  readonly retreat: readonly EnvelopeStep[];
  readonly reason: string;
}

/** One transition as scripts read it. */
export interface EnvelopeTransition {
  readonly op: string;
  readonly member: string | null;
  readonly plan: string;
  readonly group: number;
  readonly parallelism: string;
  readonly steps: readonly EnvelopeStep[];
}

/** The plan's envelope, with `transitions` in place of `steps`. */
export interface DatameshEnvelope {
  readonly lifecycle: 'datamesh';
  readonly resource: string;
  readonly operation: string;
  readonly version: number;
  readonly transitions: readonly EnvelopeTransition[];
  readonly blocked: readonly {
    readonly intent: string;
    readonly member: string | null;
    readonly guard: string;
    readonly message: string;
  }[];
  readonly unknown: readonly { readonly guard: string; readonly needs: string }[];
  readonly totals: { readonly transitions: number; readonly steps: number };
  readonly hash: string;
}

/** Renders a plan for scripts and people. The hash covers what is done, never reasons. */
export function buildEnvelope(plan: DatameshPlan): DatameshEnvelope {
  const nodes = nodesOf(plan);
  const transitions = plan.transitions.map((one) => renderTransition(plan, one, nodes));
  const body = {
    lifecycle: 'datamesh' as const,
    resource: plan.observed.resource,
    operation: operationOf(plan),
    version: PLAN_VERSION,
  };
  const done = transitions.map(({ steps, group: _group, ...transition }) => ({
    ...transition,
    steps: steps.map(withoutReason),
  }));
  return {
    ...body,
    transitions,
    blocked: plan.transitions.flatMap((one) => one.blocked.map(({ wayOut: _wayOut, ...rest }) => rest)),
    unknown: plan.unknown,
    totals: {
      transitions: transitions.length,
      steps: transitions.reduce((sum, one) => sum + one.steps.length, 0),
    },
    hash: hashJson({ ...body, transitions: done as unknown as Json }),
  };
}

type Deed = Omit<EnvelopeStep, 'reason' | 'retreat'> & { readonly retreat: readonly Deed[] };
const withoutReason = ({ reason: _reason, retreat, ...step }: EnvelopeStep): Deed => ({
  ...step,
  retreat: retreat.map(withoutReason),
});

/** The word for the whole: the one operation, or `change-members` when there are several kinds. */
function operationOf(plan: DatameshPlan): string {
  const ops = new Set(plan.transitions.map((one) => one.op));
  const [only] = ops;
  if (only === undefined) return 'none';
  if (ops.size > 1) return 'change-members';
  return only.replaceAll(/(?<=[a-z])(?=[A-Z])/gu, '-').toLowerCase();
}

function nodesOf(plan: DatameshPlan): Readonly<Record<string, string>> {
  const nodes: Record<string, string> = {};
  for (const member of plan.observed.members) nodes[member.name] = member.node;
  for (const transition of plan.transitions) {
    for (const member of transition.mesh.members) nodes[member.name] = member.node;
    if (transition.member !== null && transition.node !== null) nodes[transition.member] = transition.node;
  }
  return nodes;
}

function renderTransition(
  plan: DatameshPlan,
  one: Placed,
  nodes: Readonly<Record<string, string>>,
): EnvelopeTransition {
  const flant = KERNEL_FACTS[plan.observed.kernel].shadow;
  const resource = plan.observed.resource.split('/').at(-1) ?? plan.observed.resource;
  const render = (step: PlannedStep): EnvelopeStep => ({
    from: step.from,
    to: step.to,
    q: step.q,
    qmr: step.qmr,
    confirm: step.confirm,
    commands: Object.fromEntries(
      Object.entries(step.actions).map(([member, commands]) => [
        nodes[member] ?? member,
        commands.map((command) => renderCommand(command, resource, flant)),
      ]),
    ),
    rolling: step.rolling,
    wait: step.wait,
    irreversible: step.irreversible,
    leaves: step.leaves,
    retreat: step.retreat.map(render),
    reason: step.reason,
  });
  return {
    op: one.op,
    member: one.member,
    plan: one.plan,
    group: one.group,
    parallelism: one.parallelism,
    steps: one.steps.map(render),
  };
}
