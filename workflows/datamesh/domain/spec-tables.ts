import { GUARDS } from './guards.ts';
import { LAYOUT_EDGES, LAYOUTS } from './layouts.ts';
import { MEMBER_STATES, STATE_FACTS } from './member-states.ts';
import { ADDED_RULES, GROUP_ROWS, RULES } from './parallelism.ts';
import { PATHS } from './paths.ts';
import { QUORUM_ORDERS } from './quorum-orders.ts';

type Cells = readonly (string | number)[];

const table = (heads: readonly string[], rows: readonly Cells[]): string =>
  [
    `| ${heads.join(' | ')} |`,
    `|${heads.map(() => '---').join('|')}|`,
    ...rows.map((row) => `| ${row.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`),
  ].join('\n');

const yes = (value: boolean): string => (value ? '✓' : '–');

/** The README's tables by name, rendered from what the planner itself reads. */
export const SPEC_TABLES: Readonly<Record<string, () => string>> = {
  states: () =>
    table(
      [
        'state',
        'name',
        'voter',
        'disk attached',
        'volume kept',
        'full mesh',
        'seen by peers',
        'bitmap at peers',
        'what it is',
      ],
      MEMBER_STATES.map((state) => {
        const facts = STATE_FACTS[state];
        return [
          `**${state}**`,
          facts.name,
          yes(facts.voter),
          yes(facts.disk),
          yes(facts.volume),
          yes(facts.fullMesh),
          yes(facts.seen),
          yes(facts.bitmap),
          facts.description,
        ];
      }),
    ),
  paths: () =>
    table(
      ['transition', 'path', 'when', 'plan'],
      PATHS.map((path) => [path.title, path.way, path.when, `\`${path.plan}\``]),
    ),
  quorum: () =>
    table(
      ['plan', 'first', 'then', 'when'],
      QUORUM_ORDERS.map((row) => [`\`${row.plan}\``, row.order[0], row.order[1], row.when]),
    ),
  layouts: () =>
    table(
      ['layout', 'FTT', 'GMDR', 'D', 'TB', 'q', 'qmr'],
      LAYOUTS.map((row) => [row.name, row.ftt, row.gmdr, row.diskful, row.tiebreakers, row.q, row.qmr]),
    ),
  graph: () =>
    [
      '```mermaid',
      'graph LR',
      ...LAYOUT_EDGES.map(
        (edge) =>
          `  ${edge.lower.name.replace('+', '_')}["${edge.lower.name}"] ---|${edge.parameter}| ${edge.upper.name.replace('+', '_')}["${edge.upper.name}"]`,
      ),
      '```',
    ].join('\n'),
  groups: () => table(['group', 'transitions', 'affects'], GROUP_ROWS),
  rules: () =>
    table(
      ['rule', 'what it says', 'from'],
      [
        ...RULES.map((rule) => [rule.name, rule.description, 'specification']),
        ...ADDED_RULES.map((rule) => [rule.name, rule.description, 'ours']),
      ],
    ),
  guards: () =>
    table(
      ['guard', 'asked for', 'condition', 'blocked message', 'way out', 'from'],
      GUARDS.map((row) => [row.name, row.asked, row.condition, row.message, row.wayOut, row.origin]),
    ),
};

/** A text with every `<!-- table:name -->` block filled anew. */
export const fillTables = (text: string): string =>
  text.replaceAll(/<!-- table:(\w+) -->[^]*?<!-- end -->/gu, (block, name: string) => {
    const render = SPEC_TABLES[name];
    return render === undefined ? block : `<!-- table:${name} -->\n${render()}\n<!-- end -->`;
  });
