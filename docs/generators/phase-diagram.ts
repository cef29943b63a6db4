import type { Transition, TransitionTable } from '../../workflows/shared/transitions.ts';
import type { Generator } from './section.ts';

/** A lifecycle's phases as a diagram in its README, drawn from the table that the running workflow goes through. */
export const phaseDiagram = (lifecycle: string, table: TransitionTable<string, string>): Generator => ({
  section: 'phases',
  file: `workflows/${lifecycle}/README.md`,
  render: () => ['```mermaid', ...drawPhases(table), '```'].join('\n'),
});

/** The lines of the diagram. Rows of ours are marked with a star; a row from every phase starts at `every phase`. */
export function drawPhases(table: TransitionTable<string, string>): readonly string[] {
  const rows: readonly (readonly [Transition<string, string>, boolean])[] = [
    ...table.specification.map((row) => [row, false] as const),
    ...table.ours.map((row) => [row, true] as const),
  ];
  const [first] = table.phases;
  return [
    'stateDiagram-v2',
    ...(rows.some(([row]) => row.from === '*') ? ['  state "every phase" as any_phase'] : []),
    ...(first === undefined ? [] : [`  [*] --> ${first}`]),
    ...rows.map(
      ([row, ours]) => `  ${row.from === '*' ? 'any_phase' : row.from} --> ${row.to}: ${labelOf(row, ours)}`,
    ),
  ];
}

const labelOf = (row: Transition<string, string>, ours: boolean): string =>
  `${row.event}${row.guard === undefined ? '' : ` [${row.guard}]`}${ours ? ' *' : ''}`;
