import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process that cannot be mistaken for a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks from the machine's start to the process's: field 22 of `/proc/PID/stat`. */
  readonly startTime: string;
}

/** What `/proc/PID/stat` tells of a process. */
interface ProcessStat {
  readonly state: string;
  readonly parent: number;
  readonly startTime: string;
}

/** The identity of the process that has this number now, unless there is none or it only waits to be reaped. */
export function identify(pid: number): ProcessIdentity | undefined {
  const stat = readStat(pid);
  return stat === undefined || stat.state === 'Z' ? undefined : { pid, startTime: stat.startTime };
}

/** Whether exactly this process still runs. */
export function isAlive(process: ProcessIdentity): boolean {
  return identify(process.pid)?.startTime === process.startTime;
}

/** Sends a signal to exactly this process; a process that is gone already needs none. */
export function signal(target: ProcessIdentity, name: NodeJS.Signals): void {
  if (!isAlive(target)) return;
  try {
    process.kill(target.pid, name);
  } catch (error) {
    if (Reflect.get(Object(error), 'code') !== 'ESRCH') throw error;
  }
}

/** The command line of a process as a list, or nothing when it is gone. */
export function readCommandLine(pid: number): readonly string[] {
  const text = readProc(pid, 'cmdline');
  return text === undefined || text === '' ? [] : text.replace(/\0$/, '').split('\0');
}

/** The processes of this user's view whose environment has all of these variables. */
export function findByEnvironment(variables: Readonly<Record<string, string>>): readonly ProcessIdentity[] {
  const wanted = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return allPids().flatMap((pid) => {
    const environment = readProc(pid, 'environ')?.split('\0') ?? [];
    if (!wanted.every((line) => environment.includes(line))) return [];
    const identity = identify(pid);
    return identity === undefined ? [] : [identity];
  });
}

/** The given processes and everything that descends from them, parents first. */
export function withDescendants(roots: readonly ProcessIdentity[]): readonly ProcessIdentity[] {
  const children = new Map<number, ProcessIdentity[]>();
  for (const pid of allPids()) {
    const stat = readStat(pid);
    if (stat === undefined || stat.state === 'Z') continue;
    const siblings = children.get(stat.parent) ?? [];
    siblings.push({ pid, startTime: stat.startTime });
    children.set(stat.parent, siblings);
  }
  const found = new Map<number, ProcessIdentity>();
  const queue = roots.filter(isAlive);
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    if (found.has(next.pid)) continue;
    found.set(next.pid, next);
    queue.push(...(children.get(next.pid) ?? []));
  }
  return [...found.values()];
}

/** Resident memory of a process without what it shares with its family, in bytes. */
export function readMemoryBytes(pid: number): number {
  const rollup = readProc(pid, 'smaps_rollup');
  const share = /^Pss:\s+(\d+) kB$/m.exec(rollup ?? '')?.[1];
  if (share !== undefined) return Number(share) * 1024;
  const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readProc(pid, 'status') ?? '')?.[1];
  return resident === undefined ? 0 : Number(resident) * 1024;
}

/** How long the process has been running, in seconds. */
export function readUptimeSeconds(process: ProcessIdentity): number {
  const sinceBoot = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
  return Math.max(0, sinceBoot - Number(process.startTime) / CLOCK_TICKS_PER_SECOND);
}

/** The processes that hold one of these sockets open, by the socket's inode. */
export function findSocketHolders(inodes: ReadonlySet<string>): readonly number[] {
  return allPids().filter((pid) => listDescriptors(pid).some((target) => inodes.has(target)));
}

/** Linux counts process times in ticks of 10 ms on every architecture that Keelson runs on. */
const CLOCK_TICKS_PER_SECOND = 100;

function readStat(pid: number): ProcessStat | undefined {
  const text = readProc(pid, 'stat');
  if (text === undefined) return undefined;
  // The second field is the program's name in brackets, which may itself contain spaces and brackets.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', parent: Number(fields[1]), startTime: fields[19] ?? '' };
}

function listDescriptors(pid: number): readonly string[] {
  return unlessGone(() => readdirSync(`/proc/${pid}/fd`), [])
    .map((name) => unlessGone(() => readlinkSync(`/proc/${pid}/fd/${name}`), ''))
    .flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []);
}

function allPids(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function readProc(pid: number, file: string): string | undefined {
  return unlessGone<string | undefined>(() => readFileSync(`/proc/${pid}/${file}`, 'utf8'), undefined);
}

/** A process may end, or belong to somebody else, at any moment of the reading: then there is nothing to read. */
function unlessGone<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    const code: unknown = Reflect.get(Object(error), 'code');
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return otherwise;
    throw error;
  }
}
