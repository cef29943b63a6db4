import type { Transition, TransitionTable } from '../../shared/transitions.ts';

/** An event that leads to one phase from more than this many is a note at that phase, not a bundle of arrows. */
const ARROWS = 5;

/** Draws one block of a phase table as a Mermaid state diagram. */
export function renderDiagram<Phase extends string, Event extends string>(
  table: TransitionTable<Phase, Event>,
  block: 'specification' | 'ours',
): string {
  const rows: readonly Transition<Phase, Event>[] = table[block].filter((row) => row.from !== row.to);
  const alike = Map.groupBy(rows, (row) => `${row.event} ${row.to}`);
  const isNote = (row: Transition<Phase, Event>): boolean =>
    row.from === '*' || (alike.get(`${row.event} ${row.to}`)?.length ?? 0) > ARROWS;
  const arrows = Map.groupBy(
    rows.filter((row) => !isNote(row)),
    (row) => `${row.from} --> ${row.to}`,
  );
  const notes = [...alike.values()].flatMap(([row]) => (row !== undefined && isNote(row) ? [row] : []));
  return [
    'stateDiagram-v2',
    ...(block === 'specification' ? [`    [*] --> ${table.phases[0] ?? ''}`] : []),
    ...[...arrows].map(([arrow, of]) => `    ${arrow}: ${of.map(label).join(', ')}`),
    ...notes.map((row) => {
      const from =
        row.from === '*' ? 'every other phase' : `${alike.get(`${row.event} ${row.to}`)?.length} phases`;
      return `    note right of ${row.to}: ${row.event} leads here from ${from}`;
    }),
    '',
  ].join('\n');
}

/** Our own rows as a Markdown table, one line for each event, target and reason. */
export function renderOurRows<Phase extends string, Event extends string>(
  table: TransitionTable<Phase, Event>,
): string {
  const lines = new Map<string, string[]>();
  for (const row of table.ours) {
    const stays = row.from === row.to;
    const line = `${row.event} | ${stays ? 'stays' : row.to} | ${row.guard ?? ''} | ${row.why}`;
    lines.set(line, [...(lines.get(line) ?? []), row.from]);
  }
  return [
    '| in | event | leads to | guard | why |',
    '|---|---|---|---|---|',
    ...[...lines].map(([line, from]) => `| ${from.join(', ')} | ${line} |`),
    '',
  ].join('\n');
}

const label = (row: Transition<string, string>): string =>
  row.guard === undefined ? row.event : `${row.event} [${row.guard}]`;
