import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { pathOf } from '../home.ts';
import type { Home } from '../home.ts';
import { openLog } from '../log-file.ts';
import { findMarked, marksOf } from '../marks.ts';
import type { PartCommand } from '../part.ts';
import { identify, isAlive, readCommandLine } from '../process-table.ts';
import type { ProcessIdentity } from '../process-table.ts';

/** A part's process, whether this supervisor started it or an earlier one did. */
export interface PartProcess {
  readonly identity: ProcessIdentity;
  readonly adopted: boolean;
  /** Resolves with how it ended. */
  readonly ended: Promise<string>;
}

const POLL_MS = 200;

/** Starts a part in a session of its own, so that it outlives its supervisor and no Ctrl-C reaches it. */
export async function startProcess(home: Home, part: string, command: PartCommand): Promise<PartProcess> {
  const log = openLog(pathOf.log(home, part));
  try {
    const child = spawn(command.program, command.args, {
      cwd: home.directory,
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...inheritedEnvironment(), ...command.env, ...marksOf(home, part) },
    });
    const ended = new Promise<string>((resolve) => {
      child.on('exit', (code, signal) =>
        resolve(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`),
      );
    });
    await new Promise<void>((resolve, reject) => {
      child.on('spawn', resolve);
      child.on('error', reject);
    });
    const pid = child.pid ?? 0;
    // A process that is gone before it can be looked at has an identity that matches nothing.
    return { identity: identify(pid) ?? { pid, startTime: 'gone' }, adopted: false, ended };
  } finally {
    closeSync(log);
  }
}

/** Takes over the part's process from an earlier supervisor, if it runs and is what would be started now. */
export function adoptProcess(
  home: Home,
  part: string,
  command: PartCommand,
  recorded: ProcessIdentity | null,
): PartProcess | undefined {
  const candidates = recorded !== null && isAlive(recorded) ? [recorded] : findMarked(home, part);
  const identity = candidates.find(({ pid }) =>
    isSame(readCommandLine(pid), [command.program, ...command.args]),
  );
  return identity === undefined ? undefined : { identity, adopted: true, ended: awaitEnd(identity) };
}

/** Somebody else's child sends no exit event: its end can only be looked for. */
function awaitEnd(identity: ProcessIdentity): Promise<string> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (isAlive(identity)) return;
      clearInterval(timer);
      resolve('ended');
    }, POLL_MS);
  });
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((word, at) => word === other[at]);
}

/** What a user has set for other clusters and other servers must not reach the parts of this one. */
function inheritedEnvironment(): NodeJS.ProcessEnv {
  const foreign = (name: string): boolean => name.startsWith('TEMPORAL_') || name === 'KUBECONFIG';
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign(name)));
}
