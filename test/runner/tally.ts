/** How many checks went well and how many did not. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
}

/** What the runner needs of the report that vitest writes as JSON. */
export interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** Adds counts up. */
export const sum = (tallies: readonly Tally[]): Tally => ({
  passed: tallies.reduce((total, one) => total + one.passed, 0),
  failed: tallies.reduce((total, one) => total + one.failed, 0),
});

/**
 * Counts a report. A file that cannot be loaded is a failure, and so is a test that was skipped: nobody reads
 * a list of skipped tests.
 */
export function tallyReport(report: VitestReport): Tally & { readonly skipped: readonly string[] } {
  const tests = report.testResults.flatMap((file) => file.assertionResults);
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((one) => one.status === 'failed'),
  );
  const passed = tests.filter((one) => one.status === 'passed').length;
  const skipped = tests.filter((one) => one.status !== 'passed' && one.status !== 'failed');
  return {
    passed,
    failed: tests.length - passed + broken.length,
    skipped: skipped.map((one) => one.fullName),
  };
}

/** A run that counted no failure but ended badly (an unhandled error, a killed process) has failed once. */
export const withExitCode = (tally: Tally, exitCode: number | null): Tally =>
  exitCode === 0 || tally.failed > 0 ? tally : { ...tally, failed: 1 };
