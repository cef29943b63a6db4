import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { GENERATORS } from '../../docs/generators/index.ts';
import { runbookName } from '../../docs/generators/failure-table.ts';
import { markdownTable, renderFiles } from '../../docs/generators/section.ts';
import { FAILURES } from '../../workflows/shared/failure-codes.ts';
import { readTree } from './source-tree.ts';
import type { SourceFile } from './source-tree.ts';

describe('generated sections', () => {
  const read = (file: string): string => readFileSync(file, 'utf8');

  test.each([...new Set(GENERATORS.map((one) => one.file))])('%s is up to date', (file) => {
    const generators = GENERATORS.filter((one) => one.file === file);
    expect(read(file), 'run "npm run generate"').toBe(renderFiles(generators, read).get(file));
  });

  const generator = (section: string, content: string) => ({ section, file: 'a.md', render: () => content });
  const text = 'before\n<!-- generated: x; npm run generate -->\nold\n<!-- end: x -->\nafter\n';

  test('replace what stands between their markers and nothing else', () => {
    expect(renderFiles([generator('x', 'new')], () => text).get('a.md')).toBe(
      'before\n<!-- generated: x; npm run generate -->\n\nnew\n\n<!-- end: x -->\nafter\n',
    );
  });

  test('several of one file are all written', () => {
    const both = renderFiles(
      [generator('x', 'new'), generator('y', 'too')],
      () => text + text.replaceAll('x;', 'y;').replaceAll('x -', 'y -'),
    );
    expect(both.get('a.md')).toContain('new');
    expect(both.get('a.md')).toContain('too');
  });

  test('say which markers are missing', () => {
    expect(() => renderFiles([generator('y', '')], () => text)).toThrow(
      'a.md lacks the lines "<!-- generated: y;',
    );
  });

  test('keep a bar in a cell from ending it', () => {
    expect(markdownTable([['a'], ['b | c']])).toBe('| a |\n| --- |\n| b \\| c |');
  });
});

describe('runbooks', () => {
  const permanent = Object.entries(FAILURES).flatMap(([code, row]) =>
    row.class === 'permanent' ? [code] : [],
  );

  test.each(permanent)('%s has one, with its four parts', (code) => {
    const text = readFileSync(`docs/runbooks/${runbookName(code)}.md`, 'utf8');
    expect(text.match(/^## .+$/gm)).toEqual([
      '## What it means',
      '## What it does to users',
      '## How to find out',
      '## How to fix it',
    ]);
  });
});

describe('links', () => {
  const documents = readTree().filter((file) => file.path.endsWith('.md'));
  const brokenLinks = ({ path, text }: SourceFile): readonly string[] =>
    [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)/g)]
      .map((match) => match[1] ?? '')
      .filter((target) => !existsSync(join(dirname(path), target)))
      .map((target) => `${path}: ${target}`);

  test('lead to files that exist', () => {
    expect(documents.flatMap(brokenLinks)).toEqual([]);
  });

  test('to a file that does not exist are found', () => {
    expect(
      brokenLinks({ path: 'docs/a.md', text: '[b](b.md) [c](../README.md#x) [d](https://d.example)' }),
    ).toEqual(['docs/a.md: b.md']);
  });
});
