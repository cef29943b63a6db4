import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { keyOf, resolveArtifact } from './cache/resolve.ts';
import { openHome, pathOf } from './home.ts';
import type { Home } from './home.ts';
import { tryLock, unlock } from './lock.ts';
import { openLog, readLastLines } from './log-file.ts';
import type { Part } from './part.ts';
import { isAlive, signal } from './process-table.ts';
import type { ProcessIdentity } from './process-table.ts';
import type { Progress, Task } from './progress.ts';
import { checkPorts } from './ports.ts';
import { defaultParts, readSettings, selectParts, writeSettings } from './settings.ts';
import { checkRoom, explainFileError, StackError } from './stack-error.ts';
import { readState } from './state.ts';
import type { PartState } from './state.ts';
import { stopStack } from './stop.ts';

/** What `up` was asked for. */
export interface StartOptions {
  readonly homeDirectory?: string;
  readonly portOffset?: number;
  /** Parts besides those that always start. */
  readonly withParts?: readonly string[];
  /** Exactly these parts (and what they depend on) in place of those that always start. */
  readonly onlyParts?: readonly string[];
  readonly progress: Progress;
  /** Given when the user changes their mind: what this call started is stopped again. */
  readonly signal: AbortSignal;
}

/** A stack that runs. */
export interface StartedStack {
  readonly home: Home;
  readonly portOffset: number;
  /** False when it ran already. */
  readonly startedNow: boolean;
}

const POLL_MS = 100;
/** What the data of a fresh stack take. */
const HOME_BYTES = 300e6;
/** A part that has failed this often without ever being ready will not get better by waiting. */
const HOPELESS_FAILURES = 3;
/** From the first look at a part to its being ready; a slow machine needs a fraction of it. */
const PART_LIMIT_MS = 180_000;

/** Starts the stack, or what is missing of it, and resolves when every part is ready. */
export async function startStack(options: StartOptions): Promise<StartedStack> {
  const home = openHome(options.homeDirectory);
  const lock = `${pathOf.lock(home)}.up`;
  const other = tryLock(lock);
  if (other !== undefined) {
    throw new StackError(
      `another "keelson up" (process ${other.pid}) is starting the stack in ${home.directory}`,
      'Wait for it, or end it; a stack of its own needs its own KEELSON_HOME and --port-offset.',
    );
  }
  try {
    return await startLocked(home, options);
  } catch (error) {
    throw explainFileError(error, home.directory, 'KEELSON_HOME');
  } finally {
    unlock(lock);
  }
}

/** The supervisor of the stack, if one is alive. */
export function findSupervisor(home: Home): ProcessIdentity | undefined {
  const supervisor = readState(home)?.supervisor;
  return supervisor !== undefined && isAlive(supervisor) ? supervisor : undefined;
}

async function startLocked(home: Home, options: StartOptions): Promise<StartedStack> {
  const running = findSupervisor(home);
  const before = readSettings(home);
  const portOffset = options.portOffset ?? before?.portOffset ?? 0;
  if (running !== undefined && before !== undefined && before.portOffset !== portOffset) {
    throw new StackError(
      `the stack in ${home.directory} runs already, with port offset ${before.portOffset}`,
      'Run "keelson down" first, or set KEELSON_HOME to start a second one elsewhere.',
    );
  }
  const kept = running === undefined ? [] : (before?.parts ?? []);
  const names = [
    ...new Set([...(options.onlyParts ?? defaultParts()), ...(options.withParts ?? []), ...kept]),
  ];
  const parts = selectParts(names);
  checkRoom(home.directory, HOME_BYTES, 'KEELSON_HOME');
  await checkPorts(home, parts, portOffset);
  await fetchArtifacts(parts, options);
  // A build takes minutes, in which somebody may have come.
  await checkPorts(home, parts, portOffset);
  writeSettings(home, { version: 1, portOffset, parts: parts.map(({ name }) => name) });
  if (running === undefined) startSupervisor(home);
  else signal(running, 'SIGHUP');
  try {
    await awaitParts(home, parts, options);
  } catch (error) {
    // Nothing half-started stays behind; a stack that ran before this call is not this call's to stop.
    if (running === undefined) await stopStack(home, options.progress);
    throw error;
  }
  return { home, portOffset, startedNow: running === undefined };
}

async function fetchArtifacts(parts: readonly Part[], { progress, signal }: StartOptions): Promise<void> {
  const artifacts = new Map(
    parts.flatMap((part) => part.artifacts.map((artifact) => [keyOf(artifact), artifact] as const)),
  );
  const failed = new AbortController();
  const both = AbortSignal.any([signal, failed.signal]);
  const all = [...artifacts.values()].map((artifact) =>
    resolveArtifact(artifact, progress, both).catch((error: unknown) => {
      failed.abort(error);
      throw error;
    }),
  );
  // The first failure ends the other fetches, and is the one that is told.
  await Promise.allSettled(all);
  await Promise.all(all).catch((error: unknown) => {
    throw failed.signal.aborted && !signal.aborted ? failed.signal.reason : error;
  });
}

function startSupervisor(home: Home): void {
  const log = openLog(pathOf.log(home, 'supervisor'));
  const program = fileURLToPath(new URL('./supervisor/main.ts', import.meta.url));
  const stdio: ['ignore', number, number] = ['ignore', log, log];
  spawn(process.execPath, [program, home.directory], { detached: true, stdio, cwd: home.directory }).unref();
  closeSync(log);
}

async function awaitParts(
  home: Home,
  parts: readonly Part[],
  { progress, signal }: StartOptions,
): Promise<void> {
  const tasks = new Map<string, Task>();
  const since = Date.now();
  let supervisor: ProcessIdentity | undefined;
  for (const waiting = new Set(parts.map(({ name }) => name)); waiting.size > 0; await delay(POLL_MS)) {
    signal.throwIfAborted();
    supervisor = findSupervisor(home) ?? supervisor;
    checkSupervisor(home, supervisor, since);
    const states = supervisor === undefined ? {} : (readState(home)?.parts ?? {});
    for (const name of waiting) {
      const state = states[name];
      if (state === undefined || state.phase === 'waiting') continue;
      const task = tasks.get(name) ?? progress.task(name);
      tasks.set(name, task);
      if (state.phase === 'ready') {
        task.done('ready');
        waiting.delete(name);
      } else if (state.failures >= HOPELESS_FAILURES || Date.now() - since > PART_LIMIT_MS) {
        task.fail(state.reason ?? 'failed');
        throw describeFailure(home, name, state);
      } else if (state.reason !== null) task.update(state.reason);
    }
  }
}

const SUPERVISOR_LIMIT_MS = 20_000;
const SHOWN_LINES = 12;

function checkSupervisor(home: Home, supervisor: ProcessIdentity | undefined, since: number): void {
  if (supervisor !== undefined && isAlive(supervisor)) return;
  if (supervisor === undefined && Date.now() - since < SUPERVISOR_LIMIT_MS) return;
  const log = pathOf.log(home, 'supervisor');
  throw new StackError(
    `the supervisor ${supervisor === undefined ? 'did not start' : 'has ended'}${lastLines(log)}`,
    `Its log is ${log}; run "keelson up" again once the cause is gone.`,
  );
}

function describeFailure(home: Home, name: string, state: PartState): StackError {
  const log = pathOf.log(home, name);
  return new StackError(`${name} ${state.reason ?? 'failed'}${lastLines(log)}`, `Its whole log is ${log}.`);
}

function lastLines(log: string): string {
  return readLastLines(log, SHOWN_LINES)
    .map((line) => `\n    ${line}`)
    .join('');
}
