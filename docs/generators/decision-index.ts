import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { markdownTable } from './section.ts';
import type { Generator } from './section.ts';

const FOLDER = 'docs/decisions';

/** Every decision by number, with its title and its date. */
export const decisionIndex: Generator = {
  section: 'decisions',
  file: `${FOLDER}/README.md`,
  render: () =>
    markdownTable([
      ['number', 'decision', 'date'],
      ...readdirSync(FOLDER)
        .filter((name) => /^\d{4}-.*\.md$/.test(name))
        .sort()
        .map((name) => rowOf(name, readFileSync(join(FOLDER, name), 'utf8'))),
    ]),
};

function rowOf(name: string, text: string): readonly string[] {
  const title = /^# (.+)$/m.exec(text)?.[1] ?? name;
  const date = /^Date: (\d{4}-\d{2}-\d{2})$/m.exec(text)?.[1];
  if (date === undefined) throw new Error(`${FOLDER}/${name} lacks a line "Date: YYYY-MM-DD"`);
  return [name.slice(0, 4), `[${title}](${name})`, date];
}
