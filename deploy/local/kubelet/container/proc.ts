import { readFileSync, readlinkSync } from 'node:fs';
import type { ProcessIdentity } from '../pod/record.ts';

interface ProcessStat {
  readonly state: string;
  readonly parent: number;
  readonly startTicks: number;
}

/** What the kernel says about a process; undefined when there is none. */
export function readProcess(pid: number): ProcessStat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may itself hold spaces and parentheses, so that fields count from its end.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? 'X', parent: Number(fields[1]), startTicks: Number(fields[19]) };
  } catch {
    return undefined;
  }
}

/** The identity of a process that runs now. */
export function identify(pid: number): ProcessIdentity {
  return { pid, startTicks: readProcess(pid)?.startTicks ?? 0 };
}

/** Whether this very process still runs: not one that got its number later, and not a zombie. */
export function isRunning(identity: ProcessIdentity): boolean {
  const stat = readProcess(identity.pid);
  return stat !== undefined && stat.startTicks === identity.startTicks && !'ZX'.includes(stat.state);
}

/** Signals a process if it is still the same; false when it is gone. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isRunning(identity)) return false;
  try {
    process.kill(identity.pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** The environment that a process was started with. */
export function readEnvironment(pid: number): Record<string, string> {
  try {
    const pairs = readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .filter((pair) => pair.includes('='));
    return Object.fromEntries(
      pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
    );
  } catch {
    return {};
  }
}

/** The program that a process runs; undefined when it cannot be told. */
export function readProgram(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return undefined;
  }
}
