import { findCounterexample } from './counterexample.ts';
import { GUARDS } from './guards.ts';
import { meshOf } from './mesh.ts';
import type { DatameshPlan, Placed } from './plan.ts';

/** Why one transition is blocked, in full. */
export interface Explanation {
  readonly intent: string;
  readonly member: string | null;
  readonly guard: string;
  readonly message: string;
  readonly condition: string;
  readonly wayOut: string;
  readonly counterexample: { readonly lost: readonly string[]; readonly what: string } | null;
}

/** Explains everything that a plan's guards refuse; each with what would go wrong, where the numbers show it. */
export function explainPlan(plan: DatameshPlan): readonly Explanation[] {
  return plan.transitions.flatMap((one) => one.blocked.map((row) => explainOne(plan, one, row)));
}

function explainOne(plan: DatameshPlan, one: Placed, row: Placed['blocked'][number]): Explanation {
  const guard = GUARDS.find((known) => known.name === row.guard);
  return {
    intent: row.intent,
    member: row.member,
    guard: row.guard,
    message: row.message,
    condition: guard?.condition ?? 'the parallelism rules of the specification',
    wayOut: row.wayOut,
    counterexample: findCounterexample(meshOf(plan.observed), one.mesh),
  };
}

/** The explanations as a person reads them. */
export function renderExplanations(rows: readonly Explanation[]): string {
  if (rows.length === 0) return 'Nothing is blocked.\n';
  return rows
    .map((row) => {
      const story =
        row.counterexample === null
          ? []
          : [
              `  If it were done: ${row.counterexample.lost.length === 0 ? 'at once' : `lose ${row.counterexample.lost.join(' and ')}, and`} ${row.counterexample.what}.`,
            ];
      return [
        `${row.intent}${row.member === null ? '' : ` ${row.member}`} is blocked by ${row.guard}: ${row.message}`,
        `  It asks for: ${row.condition}`,
        ...story,
        `  Way out: ${row.wayOut}`,
        '',
      ].join('\n');
    })
    .join('\n');
}
