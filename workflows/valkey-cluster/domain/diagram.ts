import type { Transition, TransitionTable } from '../../shared/transitions.ts';

/** Draws a phase table as a Mermaid state diagram: the specification's rows, then ours where `block` asks for them. */
export function renderDiagram<Phase extends string, Event extends string>(
  table: TransitionTable<Phase, Event>,
  block: 'specification' | 'ours',
): string {
  const arrows = new Map<string, string[]>();
  for (const row of table[block]) {
    if (row.from === '*' || row.from === row.to) continue;
    const arrow = `${row.from} --> ${row.to}`;
    arrows.set(arrow, [...(arrows.get(arrow) ?? []), label(row)]);
  }
  const start = block === 'specification' ? [`    [*] --> ${table.phases[0] ?? ''}`] : [];
  return [
    'stateDiagram-v2',
    ...start,
    ...[...arrows].map(([arrow, labels]) => `    ${arrow}: ${labels.join(', ')}`),
    ...table[block]
      .filter((row) => row.from === '*')
      .map((row) => `    note right of ${row.to}: ${row.event} leads here from every other phase`),
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
