import { existsSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { pathOf } from './home.ts';
import type { Home } from './home.ts';
import { findMarked, sweep, terminate } from './marks.ts';
import { findByEnvironment, isAlive, readCommandLine, signal } from './process-table.ts';
import type { ProcessIdentity } from './process-table.ts';
import type { Progress } from './progress.ts';
import { PARTS } from './parts/index.ts';
import { readSettings } from './settings.ts';
import { readState } from './state.ts';
import type { StackState } from './state.ts';

/** How long a supervisor may take to stop all parts before they are stopped without it. */
const SUPERVISOR_LIMIT_MS = 90_000;
const POLL_MS = 100;

/** Stops everything that this stack has started, and nothing else; resolves when all of it is gone. */
export async function stopStack(home: Home, progress: Progress): Promise<{ wasRunning: boolean }> {
  const state = readStateIfSound(home);
  const supervisors = findSupervisors(home, state);
  const wasRunning = supervisors.length > 0 || findMarked(home).length > 0;
  if (wasRunning) {
    const task = progress.task('stopping');
    for (const supervisor of supervisors) await stopSupervisor(supervisor);
    await stopParts(home, state);
    await sweep(home);
    task.done('nothing of it runs any more');
  }
  for (const file of [pathOf.state(home), pathOf.lock(home)]) rmSync(file, { force: true });
  if (isDamaged(() => readSettings(home))) rmSync(pathOf.settings(home));
  return { wasRunning };
}

/** Removes all data, logs and settings of a stack that does not run. */
export function purgeHome(home: Home): void {
  if (existsSync(home.directory)) rmSync(home.directory, { recursive: true, force: true });
}

/** A damaged state file must not keep a stack from being stopped: its processes are found by their marks. */
function readStateIfSound(home: Home): StackState | undefined {
  try {
    return readState(home);
  } catch {
    return undefined;
  }
}

function isDamaged(read: () => unknown): boolean {
  try {
    read();
    return false;
  } catch {
    return true; // Whoever runs "up" next decides anew what the stack consists of.
  }
}

function findSupervisors(home: Home, state: StackState | undefined): readonly ProcessIdentity[] {
  if (state !== undefined && isAlive(state.supervisor)) return [state.supervisor];
  return findByEnvironment({}).filter(({ pid }) => {
    const [, program, directory] = readCommandLine(pid);
    return program?.endsWith('/deploy/local/supervisor/main.ts') === true && directory === home.directory;
  });
}

async function stopSupervisor(supervisor: ProcessIdentity): Promise<void> {
  signal(supervisor, 'SIGTERM');
  const deadline = Date.now() + SUPERVISOR_LIMIT_MS;
  while (isAlive(supervisor) && Date.now() < deadline) await delay(POLL_MS);
  signal(supervisor, 'SIGKILL');
}

/** Without a supervisor the parts are stopped from here, dependents first. */
async function stopParts(home: Home, state: StackState | undefined): Promise<void> {
  for (const part of [...PARTS].reverse()) {
    const recorded = state?.parts[part.name]?.process ?? null;
    const main = recorded !== null && isAlive(recorded) ? recorded : findMarked(home, part.name)[0];
    if (main !== undefined) await terminate(main, part.graceMs);
    await sweep(home, part.name);
  }
}
