import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Stage } from './stages.ts';
import { formatDuration } from './summary.ts';
import { tallyReport, withExitCode } from './tally.ts';
import type { Tally, VitestReport } from './tally.ts';

/** How a stage ended. */
export interface StageResult extends Tally {
  readonly stage: Stage;
  readonly durationMs: number;
  /** All that it said, to be shown when it failed. */
  readonly output: string;
  /** Why it failed, where it does not say so itself. */
  readonly notes: readonly string[];
}

const GRACE_MS = 30_000;
const SKIPPED_SHOWN = 5;
/** How long the output may stay open after the command has ended. */
const DRAIN_MS = 2_000;

const running = new Set<ChildProcess>();

/** Asks everything that still runs to end, and makes it end when it does not. */
export function stopAll(): void {
  for (const child of running) stop(child);
}

/** Runs one stage to its end; what it writes goes to `say` line by line if it is a live one. */
export async function execute(
  stage: Stage,
  directory: string,
  say: (line: string) => void,
): Promise<StageResult> {
  const reportFile = join(directory, `${stage.name.replaceAll(' ', '-')}.json`);
  const report = stage.countsTests ? ['--reporter', 'json', `--outputFile.json=${reportFile}`] : [];
  rmSync(reportFile, { force: true });
  const start = Date.now();
  const ended = await runNode([...stage.command, ...report], stage, { TMPDIR: directory }, say);
  const exitCode = ended.leftover ? null : ended.exitCode;
  const counted = stage.countsTests
    ? readReport(reportFile)
    : { passed: exitCode === 0 ? 1 : 0, failed: 0, skipped: [] };
  const notes = [
    ...(ended.hung ? [`Ended after ${formatDuration(stage.hangsAfterMs)}: it hangs.`] : []),
    ...(ended.leftover ? ['It left a process behind, which still holds its output.'] : []),
    ...describeSkipped(counted.skipped),
  ];
  return {
    stage,
    ...withExitCode({ passed: counted.passed, failed: counted.failed }, exitCode),
    durationMs: Date.now() - start,
    output: plain(ended.output.trimEnd()),
    notes,
  };
}

/** A set-up that fails skips every test behind it: then a few names are enough. */
function describeSkipped(names: readonly string[]): readonly string[] {
  const more = names.length - SKIPPED_SHOWN;
  return [
    ...names.slice(0, SKIPPED_SHOWN).map((name) => `Skipped, which counts as failed: ${name}`),
    ...(more > 0 ? [`Skipped, which counts as failed: ${more} more`] : []),
  ];
}

/** Not every tool leaves its colours out when nobody sees them. */
const plain = (text: string): string => (process.stdout.isTTY ? text : stripVTControlCharacters(text));

function readReport(file: string): ReturnType<typeof tallyReport> {
  if (!existsSync(file)) return { passed: 0, failed: 1, skipped: [] };
  const report: VitestReport = JSON.parse(readFileSync(file, 'utf8'));
  return tallyReport(report);
}

/** How a command ended. */
interface Ended {
  readonly output: string;
  readonly exitCode: number | null;
  /** It was ended, because it took too long. */
  readonly hung: boolean;
  /** Something that it started outlived it. */
  readonly leftover: boolean;
}

async function runNode(
  command: readonly string[],
  stage: Stage,
  env: Readonly<Record<string, string>>,
  say: (line: string) => void,
): Promise<Ended> {
  const colour = process.stdout.isTTY ? { FORCE_COLOR: '1' } : { NO_COLOR: '1', FORCE_COLOR: undefined };
  // A group of its own, so that what it started ends with it.
  const child = spawn(process.execPath, command, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...colour, ...env },
  });
  running.add(child);
  const parts: string[] = [];
  const lines = new LineSplitter(say);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      parts.push(text);
      if (stage.live) lines.push(text);
    });
  }
  let hung = false;
  let leftover = false;
  const limit = setTimeout(() => {
    hung = true;
    stop(child);
  }, stage.hangsAfterMs);
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', resolve);
    child.on('exit', () => {
      setTimeout(() => {
        leftover = running.has(child);
        child.stdout.destroy();
        child.stderr.destroy();
      }, DRAIN_MS).unref();
    });
  });
  clearTimeout(limit);
  running.delete(child);
  lines.end();
  return { output: parts.join(''), exitCode, hung, leftover };
}

function stop(child: ChildProcess): void {
  signalGroup(child, 'SIGTERM');
  setTimeout(() => running.has(child) && signalGroup(child, 'SIGKILL'), GRACE_MS).unref();
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    // It ended between the look and the signal.
    if (Reflect.get(Object(error), 'code') !== 'ESRCH') throw error;
  }
}

/** Passes text on in whole lines, so that the lines of several commands do not mix. */
class LineSplitter {
  #rest = '';
  readonly #say: (line: string) => void;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  push(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#say(line);
  }

  end(): void {
    if (this.#rest !== '') this.#say(this.#rest);
  }
}
