import { closeSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { identify, isAlive } from './process-table.ts';
import type { ProcessIdentity } from './process-table.ts';
import { systemCode } from './stack-error.ts';

/** Runs `work` while no other living process holds the lock file; a lock whose owner died counts as free. */
export async function withLock<T>(
  file: string,
  work: () => Promise<T>,
  onWait: (holder: ProcessIdentity) => void = () => {},
): Promise<T> {
  let told = false;
  for (let holder = tryLock(file); holder !== undefined; holder = tryLock(file)) {
    if (!told) onWait(holder);
    told = true;
    await delay(RETRY_MS);
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/** Takes the lock at once, or answers who holds it. */
export function tryLock(file: string): ProcessIdentity | undefined {
  const self = identify(process.pid);
  if (self === undefined) throw new Error('this process has no entry in /proc');
  for (;;) {
    if (createExclusively(file, JSON.stringify(self))) return undefined;
    const text = readIfPresent(file);
    if (text === undefined) continue;
    const holder = parseHolder(text);
    if (holder !== undefined && isAlive(holder)) return holder;
    removeIfUnchanged(file, text);
  }
}

/** Gives back a lock taken with `tryLock`. */
export function unlock(file: string): void {
  rmSync(file, { force: true });
}

const RETRY_MS = 200;

function createExclusively(file: string, text: string): boolean {
  // The content must be there as soon as the name is: write aside, then link.
  const aside = `${file}.${process.pid}`;
  const handle = openSync(aside, 'w');
  writeSync(handle, text);
  closeSync(handle);
  try {
    linkSync(aside, file);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Takes a dead owner's lock away, without taking one that somebody else has just made in its place. */
function removeIfUnchanged(file: string, seen: string): void {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
    if (readFileSync(aside, 'utf8') !== seen) linkSync(aside, file);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT' && systemCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function parseHolder(text: string): ProcessIdentity | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const pid: unknown = Reflect.get(Object(value), 'pid');
    const startTime: unknown = Reflect.get(Object(value), 'startTime');
    return typeof pid === 'number' && typeof startTime === 'string' ? { pid, startTime } : undefined;
  } catch {
    return undefined; // Not JSON: nobody's lock.
  }
}
