import { setTimeout as delay } from 'node:timers/promises';
import type { Home } from './home.ts';
import { findByEnvironment, isAlive, signal, withDescendants } from './process-table.ts';
import type { ProcessIdentity } from './process-table.ts';

const POLL_MS = 50;

/** The variables that mark all that a part starts as this stack's, whatever becomes of its parent. */
export function marksOf(home: Home, part: string): Readonly<Record<string, string>> {
  return { KEELSON_STACK: home.stackId, KEELSON_PART: part };
}

/** Everything that still runs and that this stack (or one part of it) has started, with its descendants. */
export function findMarked(home: Home, part?: string): readonly ProcessIdentity[] {
  const marks = part === undefined ? { KEELSON_STACK: home.stackId } : marksOf(home, part);
  return withDescendants(findByEnvironment(marks)).filter(({ pid }) => pid !== process.pid);
}

/** Asks a process to end, and kills it when it has not done so in time; resolves when it is gone. */
export async function terminate(target: ProcessIdentity, graceMs: number): Promise<void> {
  signal(target, 'SIGTERM');
  if (await awaitEnd([target], graceMs)) return;
  signal(target, 'SIGKILL');
  await awaitEnd([target], KILL_MS);
}

/** Kills what is left of a stack, or of one part of it. */
export async function sweep(home: Home, part?: string): Promise<void> {
  const deadline = Date.now() + KILL_MS;
  for (
    let left = findMarked(home, part);
    left.length > 0 && Date.now() < deadline;
    left = findMarked(home, part)
  ) {
    for (const target of left) signal(target, 'SIGKILL');
    await awaitEnd(left, KILL_MS);
  }
}

const KILL_MS = 5_000;

async function awaitEnd(targets: readonly ProcessIdentity[], limitMs: number): Promise<boolean> {
  const deadline = Date.now() + limitMs;
  while (targets.some(isAlive)) {
    if (Date.now() >= deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}
