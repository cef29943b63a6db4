import { describe, expect, test } from 'vitest';
import { sum, tallyReport, withExitCode } from './tally.ts';
import type { VitestReport } from './tally.ts';

const report = (...files: readonly (readonly [status: string, ...tests: string[]])[]): VitestReport => ({
  testResults: files.map(([status, ...tests], at) => ({
    name: `${at}.test.ts`,
    status,
    assertionResults: tests.map((one) => ({ status: one, fullName: `a ${one} test` })),
  })),
});

describe('a report', () => {
  test('counts what passed and what failed', () => {
    expect(tallyReport(report(['passed', 'passed'], ['failed', 'passed', 'failed']))).toEqual({
      passed: 2,
      failed: 1,
      skipped: [],
    });
  });

  test('counts a file that cannot be loaded as one failure', () => {
    expect(tallyReport(report(['failed'], ['failed', 'passed']))).toMatchObject({ passed: 1, failed: 2 });
  });

  test('counts a test that was skipped or is to be written as a failure, by name', () => {
    expect(tallyReport(report(['passed', 'passed', 'skipped', 'todo', 'pending']))).toEqual({
      passed: 1,
      failed: 3,
      skipped: ['a skipped test', 'a todo test', 'a pending test'],
    });
  });
});

describe('an exit code', () => {
  test('makes a run without failed tests fail', () => {
    expect(withExitCode({ passed: 3, failed: 0 }, 1)).toEqual({ passed: 3, failed: 1 });
    expect(withExitCode({ passed: 3, failed: 0 }, null)).toEqual({ passed: 3, failed: 1 });
  });

  test('is not counted beside the failures that caused it', () => {
    expect(withExitCode({ passed: 3, failed: 2 }, 1)).toEqual({ passed: 3, failed: 2 });
  });
});

test('counts add up', () => {
  expect(
    sum([
      { passed: 1, failed: 2 },
      { passed: 3, failed: 4 },
    ]),
  ).toEqual({ passed: 4, failed: 6 });
});
