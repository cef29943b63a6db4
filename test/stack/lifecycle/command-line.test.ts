import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findFreeOffset } from '../../../deploy/local/free-ports.ts';
import { openHome } from '../../../deploy/local/home.ts';
import { findMarked } from '../../../deploy/local/marks.ts';
import { explainFileError } from '../../../deploy/local/stack-error.ts';
import { silentProgress } from '../../../deploy/local/progress.ts';
import { readState } from '../../../deploy/local/state.ts';
import { stopStack } from '../../../deploy/local/stop.ts';
import { useStack } from '../../../deploy/local/testing.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/keelson.mjs', import.meta.url));
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keelson-cli-'));
});

afterEach(async () => {
  const home = join(directory, 'home');
  if (existsSync(join(home, 'logs'))) await stopStack(openHome(home), silentProgress);
  rmSync(directory, { recursive: true, force: true });
});

test('leaves nothing behind when it is interrupted on the way up', async () => {
  const { child, ended } = start(['up', '--only', 'etcd-pool', '--port-offset', String(findFreeOffset())]);
  const home = openHome(join(directory, 'home'));
  await expect.poll(() => findMarked(home).length, { timeout: 30_000 }).toBeGreaterThan(0);
  child.kill('SIGINT');
  expect((await ended).code).toBe(130);
  expect(findMarked(home)).toEqual([]);
  expect(readState(home)).toBeUndefined();
});

test('stays in the foreground until it is told to end, and stops everything then', async () => {
  const offset = String(findFreeOffset());
  const { child, ended, output } = start([
    'up',
    '--only',
    'etcd-pool',
    '--foreground',
    '--port-offset',
    offset,
  ]);
  await expect.poll(output, { timeout: 60_000 }).toContain('Press Ctrl-C');
  const home = openHome(join(directory, 'home'));
  expect(findMarked(home)).toHaveLength(1);
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);
  expect(findMarked(home)).toEqual([]);
});

test('removes all data when it is told to', async () => {
  const up = await keelson(['up', '--only', 'etcd-pool', '--port-offset', String(findFreeOffset())]);
  expect(up.code, up.stderr).toBe(0);
  expect((await keelson(['down', '--purge'])).code).toBe(0);
  expect(existsSync(join(directory, 'home'))).toBe(false);
});

test('answers JSON and nothing else on stdout', async () => {
  const { home } = await useStack();
  const status = await keelson(['status', '-o', 'json'], { KEELSON_HOME: home });
  expect(JSON.parse(status.stdout)).toMatchObject({ running: true, home });
});

test('says in one sentence that a directory cannot be one', async () => {
  writeFileSync(join(directory, 'home'), 'a file');
  const up = await keelson(['up', '--only', 'etcd-pool']);
  expect(up).toMatchObject({ code: 1, stdout: '' });
  expect(up.stderr).toMatch(/^keelson: .* is not a directory\n {2}Move it away/);
});

test.for([
  [['up', '--port-offset', 'many'], /whole number/],
  [['up', '--only', 'nothing'], /there is no part "nothing"/],
  [['up', '--sideways'], /unknown option/],
  [['sideways'], /unknown command/],
  [['logs', 'nothing'], /there is no stack|there is no part/],
] as const)('refuses %j with a sentence', async ([words, sentence]) => {
  const answer = await keelson([...words]);
  expect(answer.code).not.toBe(0);
  expect(answer.stderr).toMatch(sentence);
  expect(answer.stdout).toBe('');
});

test.for([
  ['ENOSPC', /is full/],
  ['EACCES', /may not be written to/],
  ['EROFS', /may not be written to/],
] as const)('explains %s in words', ([code, sentence]) => {
  const error = Object.assign(new Error(code), { code });
  expect(explainFileError(error, '/some/where', 'KEELSON_HOME')).toMatchObject({
    message: expect.stringMatching(sentence),
    remedy: expect.stringContaining('KEELSON_HOME'),
  });
});

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function keelson(words: string[], env: Record<string, string> = {}): Promise<Ended> {
  return start(words, env).ended;
}

function start(words: string[], env: Record<string, string> = {}) {
  const home = join(directory, 'home');
  const child = spawn(process.execPath, [PROGRAM, ...words], {
    env: { ...process.env, KEELSON_HOME: home, ...env },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { child, ended, output: () => stderr };
}
