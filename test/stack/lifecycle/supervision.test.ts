import { readFileSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openHome, pathOf } from '../../../deploy/local/home.ts';
import type { Home } from '../../../deploy/local/home.ts';
import { tryLock, unlock } from '../../../deploy/local/lock.ts';
import { findMarked } from '../../../deploy/local/marks.ts';
import { identify, isAlive, signal } from '../../../deploy/local/process-table.ts';
import type { ProcessIdentity } from '../../../deploy/local/process-table.ts';
import { silentProgress } from '../../../deploy/local/progress.ts';
import { findSupervisor, startStack } from '../../../deploy/local/start.ts';
import type { StartedStack } from '../../../deploy/local/start.ts';
import { readStatus } from '../../../deploy/local/status.ts';
import { stopStack } from '../../../deploy/local/stop.ts';
import { startTestStack } from '../../../deploy/local/testing.ts';

// Two parts that start in a second and need nothing: what is tested here is the same for all.
const PARTS = ['etcd-pool', 'temporal'];
let stack: Awaited<ReturnType<typeof startTestStack>>;
let home: Home;

beforeAll(async () => {
  stack = await startTestStack({ onlyParts: PARTS });
  home = openHome(stack.home);
});

beforeEach(async () => {
  await up();
});

afterAll(async () => {
  await stack.stop();
});

test('starts a killed part again, and says why', async () => {
  const before = stack.part('temporal').process();
  await stack.part('temporal').kill();
  const after = await stack.part('temporal').awaitReady(before);
  expect(after.pid).not.toBe(before.pid);
  expect(readStatus(home).parts.find(({ name }) => name === 'temporal')?.restarts).toBeGreaterThan(0);
  expect(readFileSync(pathOf.log(home, 'supervisor'), 'utf8')).toContain('temporal was ended by SIGKILL');
});

test('leaves everything alone when all of it runs', async () => {
  const before = pids();
  const { startedNow } = await up();
  expect(startedNow).toBe(false);
  expect(pids()).toEqual(before);
});

test('adopts what runs when the supervisor was killed', async () => {
  const before = pids();
  await killSupervisor();
  expect(readStatus(home)).toMatchObject({ running: true, healthy: false, supervisor: null });
  await up();
  expect(pids()).toEqual(before);
  expect(readStatus(home).healthy).toBe(true);
});

test('starts only what is missing when the supervisor and a part were killed', async () => {
  const before = pids();
  await killSupervisor();
  await stack.part('temporal').kill();
  await up();
  expect(pids()['etcd-pool']).toBe(before['etcd-pool']);
  expect(pids()['temporal']).not.toBe(before['temporal']);
});

test('looks after an adopted part as after its own', async () => {
  await killSupervisor();
  await up();
  const before = stack.part('etcd-pool').process();
  await stack.part('etcd-pool').kill();
  expect((await stack.part('etcd-pool').awaitReady(before)).pid).not.toBe(before.pid);
});

test('refuses another port offset while it runs', async () => {
  await expect(up({ portOffset: stack.portOffset + 1 })).rejects.toThrow(/runs already, with port offset/);
});

test('refuses a second start while the first one is still going on', async () => {
  const lock = `${pathOf.lock(home)}.up`;
  expect(tryLock(lock)).toBeUndefined();
  await expect(up()).rejects.toThrow(/another "keelson up" \(process \d+\) is starting the stack/);
  unlock(lock);
});

test('says that the state is damaged, and stops all the same', async () => {
  const before = allRunning();
  writeFileSync(pathOf.state(home), '{"version": 1, "parts"');
  await expect(up()).rejects.toThrow(/state\.json is damaged/);
  expect(before.every(isAlive)).toBe(true);
  await stopStack(home, silentProgress);
  expect(before.filter(isAlive)).toEqual([]);
  await up();
  expect(readStatus(home).healthy).toBe(true);
});

test('stops all that a killed supervisor has left', async () => {
  const before = allRunning();
  await killSupervisor();
  await stopStack(home, silentProgress);
  expect(before.filter(isAlive)).toEqual([]);
  expect(findMarked(home)).toEqual([]);
});

test('never stops a process that it did not start', async () => {
  await killSupervisor();
  const stranger = spawn('sleep', ['600'], { stdio: 'ignore' });
  const pid = stranger.pid ?? 0;
  const text = readFileSync(pathOf.state(home), 'utf8');
  const state = JSON.parse(text) as { parts: Record<string, { process: ProcessIdentity }> };
  const recorded = state.parts['temporal']?.process;
  if (recorded === undefined) throw new Error('the state has no process for temporal');
  // As if the number of the part's process had been given to somebody else since.
  const reused = { ...state.parts['temporal'], process: { pid, startTime: recorded.startTime } };
  writeFileSync(
    pathOf.state(home),
    JSON.stringify({ ...state, parts: { ...state.parts, temporal: reused } }),
  );
  await stopStack(home, silentProgress);
  const survivor = identify(pid);
  stranger.kill('SIGKILL');
  expect(survivor).toBeDefined();
  expect(isAlive(recorded)).toBe(false);
});

function up(options: { portOffset?: number } = {}): Promise<StartedStack> {
  const { signal } = new AbortController();
  return startStack({
    homeDirectory: stack.home,
    onlyParts: PARTS,
    progress: silentProgress,
    signal,
    ...options,
  });
}

function pids(): Record<string, number | null> {
  return Object.fromEntries(readStatus(home).parts.map(({ name, pid }) => [name, pid]));
}

function allRunning(): readonly ProcessIdentity[] {
  const supervisor = findSupervisor(home);
  return [
    ...PARTS.map((name) => stack.part(name).process()),
    ...(supervisor === undefined ? [] : [supervisor]),
  ];
}

async function killSupervisor(): Promise<void> {
  const supervisor = findSupervisor(home);
  if (supervisor === undefined) throw new Error('nobody looks after the stack');
  signal(supervisor, 'SIGKILL');
  await expect.poll(() => isAlive(supervisor)).toBe(false);
}
