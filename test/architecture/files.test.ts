import { describe, expect, test } from 'vitest';
import { checkActivityDocs, checkDocs, checkNames, checkSize, checkUsualSize } from './file-rules.ts';
import { asLines, readTree } from './source-tree.ts';
import type { SourceFile } from './source-tree.ts';

const code = readTree().filter((file) => /\.(?:ts|mjs)$/.test(file.path));
const withoutTests = code.filter((file) => !file.path.startsWith('test/'));

const file = (path: string, lines: number): SourceFile => ({ path, text: 'a\n'.repeat(lines) });

describe('sizes', () => {
  test('no file is two files', () => {
    expect(asLines(checkSize(code))).toEqual([]);
  });

  test('most files are short', () => {
    expect(asLines(checkUsualSize(code))).toEqual([]);
  });

  test('a file of 401 lines is refused and one of 400 is not', () => {
    expect(asLines(checkSize([file('a.ts', 400), file('b.ts', 401)]))).toEqual([
      'b.ts: 401 lines are over 400: two files',
    ]);
  });

  test('two long files of four are too many, and one of four is not', () => {
    const short = [file('a.ts', 150), file('b.ts', 1)];
    expect(checkUsualSize([...short, file('c.ts', 151), file('d.ts', 399)])).toHaveLength(2);
    expect(checkUsualSize([...short, file('c.ts', 151), file('d.ts', 9)])).toEqual([]);
  });
});

describe('names', () => {
  test('are in kebab-case and say what is there', () => {
    expect(asLines(checkNames(code))).toEqual([]);
  });

  test.each(['worker/healthCheck.ts', 'worker/Health.ts', 'worker/string-utils.ts', 'common/a.ts', 'a_b.ts'])(
    '%s is refused',
    (path) => {
      expect(checkNames([file(path, 1)])).toHaveLength(1);
    },
  );

  test.each(['vitest.config.ts', 'test/e2e/pool-pods/roll.full.test.ts', 'worker/ec2-client.ts'])(
    '%s is allowed',
    (path) => {
      expect(checkNames([file(path, 1)])).toEqual([]);
    },
  );
});

describe('sentences', () => {
  test('stand above every exported function and class', () => {
    expect(asLines(checkDocs(withoutTests))).toEqual([]);
  });

  test('stand above every activity in its contract', () => {
    expect(asLines(checkActivityDocs(code))).toEqual([]);
  });

  test('are missed above a function, also when there is one further up', () => {
    const text = '/** Why. */\nexport function a() {}\n\nexport async function b() {}\nexport class C {}\n';
    expect(asLines(checkDocs([{ path: 'a.ts', text }]))).toEqual([
      'a.ts:4: b has no sentence above it',
      'a.ts:5: C has no sentence above it',
    ]);
  });

  test('are missed above an activity', () => {
    const text = 'export interface Ec2Activities {\n  /** Why. */\n  a(): void;\n  b(): void;\n}\n';
    expect(asLines(checkActivityDocs([{ path: 'activities/ec2/contract.ts', text }]))).toEqual([
      'activities/ec2/contract.ts:4: b has no sentence above it',
    ]);
  });
});
