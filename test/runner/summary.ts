import type { StageResult } from './execute.ts';
import type { Tally } from './tally.ts';

const NAME_WIDTH = 22;

/** A duration as a person writes it. */
export function formatDuration(durationMs: number): string {
  const seconds = durationMs / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
}

/** One line for a stage that has ended. */
export function stageLine(result: StageResult): string {
  const { stage, passed, failed, durationMs } = result;
  const mark = failed > 0 ? '✗' : '✓';
  const counts = stage.countsTests ? `${passed} passed${failed > 0 ? `, ${failed} failed` : ''}` : '';
  return `${mark} ${stage.name.padEnd(NAME_WIDTH)}${counts.padEnd(NAME_WIDTH)}${formatDuration(durationMs)}`;
}

/** Every area with what it took and what it may take. */
export function summaryTable(results: readonly StageResult[]): string {
  const rows = results.map(({ stage, passed, failed, durationMs }) => [
    stage.name,
    String(passed),
    String(failed),
    formatDuration(durationMs),
    `${formatDuration(stage.budgetMs)}${durationMs > stage.budgetMs ? ' (over)' : ''}`,
  ]);
  const all = [['area', 'passed', 'failed', 'time', 'budget'], ...rows];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}

/** The last line of every run, which scripts read. */
export const closingLine = ({ passed, failed }: Tally): string => `${passed} passed, ${failed} failed`;

/** A run is good only when something passed and nothing failed. */
export const exitCodeOf = ({ passed, failed }: Tally): number => (failed === 0 && passed > 0 ? 0 : 1);
