import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { execute } from './execute.ts';
import { areasOf } from './stages.ts';
import type { Stage } from './stages.ts';
import { closingLine, exitCodeOf, formatDuration, stageLine, summaryTable } from './summary.ts';

const directory = mkdtempSync(join(tmpdir(), 'keelson-runner-'));
afterAll(() => rmSync(directory, { recursive: true }));

const stage = (script: string, options: Partial<Stage> = {}): Stage => ({
  name: 'a stage',
  command: ['--eval', script],
  countsTests: false,
  budgetMs: 60_000,
  hangsAfterMs: 180_000,
  live: false,
  ...options,
});

describe('a stage', () => {
  test('passes once when its command ends well', async () => {
    expect(await execute(stage(''), directory, () => {})).toMatchObject({ passed: 1, failed: 0 });
  });

  test('fails once with all that it said when its command does not', async () => {
    const script = "console.log('one'); console.error('two'); process.exitCode = 3";
    const result = await execute(stage(script), directory, () => {});
    expect(result).toMatchObject({ passed: 0, failed: 1 });
    expect(result.output.split('\n').sort()).toEqual(['one', 'two']);
  });

  test('counts the tests of vitest: one passes, one fails, one is skipped, one file is broken', async () => {
    const config = 'test/runner/sample/vitest.config.ts';
    const command = ['node_modules/vitest/vitest.mjs', 'run', '--config', config, '--reporter', 'default'];
    const result = await execute(stage('', { command, countsTests: true }), directory, () => {});
    expect(result).toMatchObject({
      passed: 1,
      failed: 3,
      notes: ['Skipped, which counts as failed: leaves early'],
    });
    expect(result.output).toContain('expected 1 to be 2');
    expect(result.output).toContain('this file cannot be loaded');
  });

  test('fails when it was to count tests and left no report', async () => {
    const result = await execute(stage('', { countsTests: true }), directory, () => {});
    expect(result).toMatchObject({ passed: 0, failed: 1 });
  });

  test('shows whole lines as they come when it is live', async () => {
    const lines: string[] = [];
    const script = "process.stdout.write('on'); process.stdout.write('e\\ntwo')";
    await execute(stage(script, { live: true }), directory, (line) => void lines.push(line));
    expect(lines).toEqual(['one', 'two']);
  });

  test('fails when what it started outlives it', async () => {
    const script = [
      "const forever = ['--eval', 'setInterval(() => {}, 1e6)'];",
      "const options = { detached: true, stdio: 'inherit' };",
      "const child = require('node:child_process').spawn(process.execPath, forever, options);",
      'console.log(child.pid);',
      'child.unref();',
    ].join('\n');
    const result = await execute(stage(script), directory, () => {});
    process.kill(Number.parseInt(result.output, 10), 'SIGKILL');
    expect(result).toMatchObject({ passed: 0, failed: 1 });
    expect(result.notes).toEqual(['It left a process behind, which still holds its output.']);
  });

  test('is ended with all that it started when it hangs', async () => {
    // The grandchild shares the output, which is closed only when both have ended.
    const forever = "['--eval', 'setInterval(() => {}, 1e6)']";
    const script = `require('node:child_process').spawnSync(process.execPath, ${forever}, { stdio: 'inherit' })`;
    const result = await execute(stage(script, { hangsAfterMs: 1_500 }), directory, () => {});
    expect(result).toMatchObject({ passed: 0, failed: 1, notes: ['Ended after 1.5 s: it hangs.'] });
  });
});

describe('the end of a run', () => {
  const ended = {
    stage: stage('', { countsTests: true }),
    passed: 3,
    failed: 1,
    durationMs: 61_000,
    output: '',
    notes: [],
  };

  test('is one line that scripts read', () => {
    expect(closingLine({ passed: 12, failed: 0 })).toBe('12 passed, 0 failed');
  });

  test('is good only when something passed and nothing failed', () => {
    expect([0, 1].flatMap((passed) => [0, 1].map((failed) => exitCodeOf({ passed, failed })))).toEqual([
      1, 1, 0, 1,
    ]);
  });

  test('shows each stage with its counts and its time', () => {
    expect(stageLine(ended).split(/ {2,}/)).toEqual(['✗ a stage', '3 passed, 1 failed', '1 min 01 s']);
  });

  test('shows which budget was not kept', () => {
    expect(summaryTable([ended]).split('\n')[1]?.split(/ {2,}/)).toEqual([
      'a stage',
      '3',
      '1',
      '1 min 01 s',
      '1 min 00 s (over)',
    ]);
  });

  test('writes short times in seconds', () => {
    expect(formatDuration(1_234)).toBe('1.2 s');
  });
});

test('end-to-end tests have an area for each lifecycle, and other folders one', () => {
  const files = ['test/e2e/a.test.ts', 'test/e2e/pool-pods/b.test.ts', 'test/stack/deep/c.test.ts'];
  expect([...areasOf(files).keys()]).toEqual(['e2e', 'e2e pool-pods', 'stack']);
});
