import { describe, expect, test } from 'vitest';
import { asLines, readTree } from './source-tree.ts';
import { checkText, spell, TEXT_RULES } from './text-rules.ts';

const tree = readTree();

describe.each(TEXT_RULES)('$name', (rule) => {
  test('stands nowhere', () => {
    expect(asLines(checkText([rule], tree))).toEqual([]);
  });
});

describe('the rules find', () => {
  test.each([
    ['worker/a.ts', spell('let a: a', 'ny;')],
    ['worker/a.ts', spell('b as a', 'ny')],
    ['worker/a.ts', spell('new Map<a', 'ny>()')],
    ['worker/a.ts', spell('// @ts', '-ignore')],
    ['test/domain/a.test.ts', spell('test.sk', "ip('a')")],
    ['test/domain/a.test.ts', spell('describe.on', "ly('a')")],
    ['worker/a.ts', spell('// oxlint', '-disable-next-line no-empty')],
    ['docs/a.md', spell('in /ro', 'ot/.cache')],
    ['deploy/a.yaml', spell('path: /wo', 'rk/main')],
    ['package-lock.json', spell('https://registry.npm', 'js.org/a')],
    ['docs/a.md', spell('asked the integrat', 'or')],
  ])('%s: %s', (path, text) => {
    expect(checkText(TEXT_RULES, [{ path, text }])).toHaveLength(1);
  });
});

describe('the rules leave alone', () => {
  test.each([
    ['docs/a.md', spell('a rule: a', 'ny number')],
    ['worker/a.ts', 'const anyOf = company;'],
    ['worker/a.ts', '// oxlint-disable no-empty -- the file may be gone'],
    ['worker/a.ts', "join('workflows', 'shared')"],
    ['workflows/spot-agent/entity.ts', 'export async function spotAgent() {}'],
  ])('%s: %s', (path, text) => {
    expect(checkText(TEXT_RULES, [{ path, text }])).toEqual([]);
  });
});
