import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execute, stopAll } from './execute.ts';
import type { StageResult } from './execute.ts';
import { fastTests, FETCH, stackTests, TOOLS } from './stages.ts';
import type { Stage } from './stages.ts';
import { closingLine, exitCodeOf, formatDuration, stageLine, summaryTable } from './summary.ts';
import { sum } from './tally.ts';

const MODES = ['check', 'test', 'full'] as const;
type Mode = (typeof MODES)[number];

/** More than a few at a time, and their tests slow each other down. */
const TOGETHER = Math.min(4, Math.max(2, availableParallelism()));

/** Runs the checks, or the checks and everything on the real parts, and answers the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const mode = MODES.find((one) => one === argv[0]);
  if (mode === undefined || argv.length > 1) {
    console.error('Use "npm run check", "npm test" or "npm run test:full".');
    return 2;
  }
  process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
  const reportDir = mkdtempSync(join(tmpdir(), 'keelson-run-'));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopRun());
  try {
    return await runMode(mode, reportDir);
  } catch (error) {
    console.log(error);
    console.log(closingLine({ passed: 0, failed: 1 }));
    return 1;
  } finally {
    rmSync(reportDir, { recursive: true, force: true });
  }
}

let stopped = false;

/** Nothing new starts, and what runs is asked to end. */
function stopRun(): void {
  stopped = true;
  stopAll();
}

async function runMode(mode: Mode, reportDir: string): Promise<number> {
  const start = Date.now();
  if (mode === 'full') process.env['KEELSON_TEST_FULL'] = '1';
  const results = mode === 'check' ? await runChecks(reportDir) : await runEverything(reportDir);
  const total = sum(results);
  if (mode !== 'check') console.log(`\n${summaryTable(results)}`);
  console.log(`\n${formatDuration(Date.now() - start)}${stopped ? ', stopped before its end' : ''}`);
  console.log(closingLine(total));
  return stopped ? 1 : exitCodeOf(total);
}

const runChecks = async (reportDir: string): Promise<readonly StageResult[]> =>
  runTogether([...TOOLS, ...fastTests()], reportDir);

/** The parts are fetched while the checks run; without them the tests on them cannot say anything. */
async function runEverything(reportDir: string): Promise<readonly StageResult[]> {
  const fetching = runAndTell(FETCH, reportDir);
  const checks = await runChecks(reportDir);
  const fetched = await fetching;
  if (fetched.failed === 0) return [...checks, fetched, ...(await runInTurn(stackTests(), reportDir))];
  console.log(
    `\nNot run, because parts are missing: ${stackTests()
      .map((stage) => stage.name)
      .join(', ')}`,
  );
  return [...checks, fetched];
}

/** About as many at a time as there are cores. */
async function runTogether(stages: readonly Stage[], reportDir: string): Promise<readonly StageResult[]> {
  const waiting = [...stages];
  const results: StageResult[] = [];
  const takeTurns = async (): Promise<void> => {
    for (let stage = waiting.shift(); stage !== undefined && !stopped; stage = waiting.shift()) {
      results.push(await runAndTell(stage, reportDir));
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, takeTurns));
  return results;
}

/** One after the other: each has the machine to itself. */
async function runInTurn(stages: readonly Stage[], reportDir: string): Promise<readonly StageResult[]> {
  const results: StageResult[] = [];
  for (const stage of stages) {
    if (stopped) break;
    console.log(`\n▶ ${stage.name} (budget ${formatDuration(stage.budgetMs)})`);
    results.push(await runAlone(stage, reportDir));
  }
  return results;
}

/** A stack that outlives the tests that started it is a failure, and is stopped: nothing runs when the run has ended. */
async function runAlone(stage: Stage, reportDir: string): Promise<StageResult> {
  const result = await runAndTell(stage, reportDir);
  const { sweepStacks } = await import('./stack-sweep.ts');
  const left = await sweepStacks(reportDir);
  if (left.length === 0) return result;
  console.log(`✗ ${stage.name} left a stack running: ${left.join(', ')}`);
  return { ...result, failed: result.failed + left.length };
}

async function runAndTell(stage: Stage, reportDir: string): Promise<StageResult> {
  const prefix = stage === FETCH ? `${stage.name}: ` : '';
  const result = await execute(stage, reportDir, (line) => console.log(`${prefix}${line}`));
  console.log(stageLine(result));
  if (result.failed > 0 && !stage.live) console.log(result.output);
  for (const note of result.notes) console.log(note);
  return result;
}
