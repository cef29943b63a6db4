import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { ProcessIdentity } from '../pod/record.ts';
import { identify, isRunning, readEnvironment, readProcess } from './proc.ts';

/** What is needed to start one container. */
export interface Launch {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Where the sandbox writes its process id and exit code, for whoever looks, also after a restart of this process. */
  readonly statusFile: string;
}

/** How a container ended. */
export interface ExitReport {
  /** Absent when no program ever ran, or when nobody can tell how it ended. */
  readonly exitCode?: number;
  readonly finishedAtMs: number;
}

/** A container that runs, started by this process or by its predecessor. */
export interface ContainerProcess {
  readonly init: ProcessIdentity;
  readonly sandbox: ProcessIdentity;
  readonly exited: Promise<ExitReport>;
}

/** The variable that tells which run of which container a sandbox is. */
export const markerVariable = 'KEELSON_CONTAINER';

const pollMs = 200;

/** Starts a sandbox that outlives this process, and waits until its first process exists. */
export async function launchContainer(launch: Launch): Promise<ContainerProcess> {
  const log = openSync(launch.logFile, 'a', 0o640);
  const status = openSync(launch.statusFile, 'w', 0o640);
  const [program = '', ...args] = launch.command;
  const child = spawn(program, args, {
    stdio: ['ignore', log, log, status, 'pipe'],
    detached: true,
    env: launch.env,
  });
  closeSync(log);
  closeSync(status);
  const ended = new Promise<void>((resolve, reject) => {
    child.once('exit', () => resolve());
    child.once('error', reject);
  });
  const sandbox = identify(child.pid ?? 0);
  const pid = await Promise.race([readChildPid(child.stdio[4] as Readable), ended.then(() => undefined)]);
  child.unref();
  const init = pid === undefined ? { pid: 0, startTicks: 0 } : identify(pid);
  return { init, sandbox, exited: ended.then(() => reportExit(launch.statusFile, init)) };
}

async function readChildPid(info: Readable): Promise<number | undefined> {
  let text = '';
  for await (const chunk of info) text += String(chunk);
  const match = /"child-pid": (\d+)/.exec(text);
  return match === null ? undefined : Number(match[1]);
}

/** Takes over a container that an earlier process started; undefined when the record is of no running container. */
export function adoptContainer(
  statusFile: string,
  known: { init: ProcessIdentity; sandbox: ProcessIdentity } | undefined,
  marker: string,
): ContainerProcess | undefined {
  const found = known ?? findUnrecorded(statusFile, marker);
  if (found === undefined || !(isRunning(found.sandbox) || isRunning(found.init))) return undefined;
  return { ...found, exited: pollUntilEnd(found.sandbox).then(() => reportExit(statusFile, found.init)) };
}

/** A container whose process id was never recorded, because this process died right after starting it. */
function findUnrecorded(
  statusFile: string,
  marker: string,
): { init: ProcessIdentity; sandbox: ProcessIdentity } | undefined {
  const { childPid } = readStatusFile(statusFile);
  const parent = childPid === undefined ? undefined : readProcess(childPid)?.parent;
  if (childPid === undefined || parent === undefined) return undefined;
  if (readEnvironment(parent)[markerVariable] !== marker) return undefined;
  return { init: identify(childPid), sandbox: identify(parent) };
}

/** Polls, because only a parent can wait for a process. */
function pollUntilEnd(identity: ProcessIdentity): Promise<void> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (isRunning(identity)) return;
      clearInterval(timer);
      resolve();
    }, pollMs);
    timer.unref();
  });
}

/** Reads how a container ended; when its sandbox was killed from outside, waits for the program itself. */
async function reportExit(statusFile: string, init: ProcessIdentity): Promise<ExitReport> {
  if (readStatusFile(statusFile).exitCode === undefined && isRunning(init)) await pollUntilEnd(init);
  return readExit(statusFile);
}

/** How a container that no longer runs ended, as far as anybody wrote it down. */
export function readExit(statusFile: string): ExitReport {
  const { exitCode, writtenAtMs } = readStatusFile(statusFile);
  return exitCode === undefined ? { finishedAtMs: Date.now() } : { exitCode, finishedAtMs: writtenAtMs };
}

function readStatusFile(path: string): { childPid?: number; exitCode?: number; writtenAtMs: number } {
  let text: string;
  let writtenAtMs: number;
  try {
    text = readFileSync(path, 'utf8');
    writtenAtMs = statSync(path).mtimeMs;
  } catch {
    return { writtenAtMs: Date.now() };
  }
  const pid = /"child-pid": (\d+)/.exec(text);
  const code = /"exit-code": (\d+)/.exec(text);
  return {
    ...(pid === null ? {} : { childPid: Number(pid[1]) }),
    ...(code === null ? {} : { exitCode: Number(code[1]) }),
    writtenAtMs,
  };
}
