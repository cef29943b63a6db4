import { countOf, votersOf, type Mesh } from './mesh.ts';
import type { DatameshPlan, Placed } from './plan.ts';
import type { PlannedStep } from './steps.ts';

/** The plan as a person reads it: one line a step, and the way out below what is blocked. */
export function renderPlan(plan: DatameshPlan): string {
  if (plan.transitions.length === 0) return 'Nothing to do: the datamesh is what it should be.\n';
  const lines = [
    `${plan.observed.resource}: ${describe(plan.observed)} → ${describe(plan.mesh)}, kernel ${plan.observed.kernel}`,
    '',
    ...plan.transitions.flatMap((transition, at) => renderTransition(transition, at + 1)),
    ...plan.unknown.map((row) => `? ${row.guard} was not asked: it needs ${row.needs}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** A composition in short: 2D+1TB, q=2, qmr=1. */
export function describe(mesh: Pick<Mesh, 'members' | 'q' | 'qmr'>): string {
  const parts = [
    `${votersOf(mesh.members)}D`,
    ...(['TB', 'sD', 'A'] as const).flatMap((type) =>
      countOf(mesh.members, type) > 0 ? [`${countOf(mesh.members, type)}${type}`] : [],
    ),
  ];
  return `${parts.join('+')} (q=${mesh.q}, qmr=${mesh.qmr})`;
}

function renderTransition(one: Placed, number: number): readonly string[] {
  const member = one.member === null ? '' : ` ${one.member}`;
  const move = one.from === null || one.to === null ? '' : ` ${one.from} → ${one.to}`;
  const mark = one.blocked.length > 0 ? '✗' : '✓';
  return [
    `${number}. ${one.op}${member}${move} [${one.plan}, group ${one.group}] ${mark}`,
    ...one.blocked.flatMap((row) => [
      `     blocked by ${row.guard}: ${row.message}`,
      `     way out: ${row.wayOut}`,
    ]),
    ...one.steps.map((step) => renderStep(step)),
    '',
  ];
}

function renderStep(step: PlannedStep): string {
  const arrow =
    step.from === null ? 'quorum' : step.from === step.to ? `${step.from} ·` : `${step.from} → ${step.to}`;
  const flags = `${step.rolling ? ', one node after another' : ''}${step.irreversible ? ', cannot be undone' : ''}`;
  const wait = step.wait === null ? '' : `; waits until ${step.wait}`;
  return `   ${arrow.padEnd(9)} q=${step.q} qmr=${step.qmr}  ${step.reason}${wait} (${step.confirm.length} confirm${flags})`;
}
