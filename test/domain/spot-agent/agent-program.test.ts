import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../../../deploy/spot-agent/agent.mjs', import.meta.url));
const SOON = { timeout: 20_000 };

interface Heartbeat {
  readonly epoch?: number;
  readonly replica?: object;
}

/** What the API answers for now, and the heartbeats that it was sent. */
let api: { role: 'primary' | 'replica'; away: boolean; heartbeat: object; heard: Heartbeat[] };
let server: Server;
let agent: ChildProcess;
let roles: string[];
let reasons: (string | undefined)[];
let directory: string;

beforeEach(async () => {
  api = { role: 'primary', away: false, heartbeat: { primary: true, epoch: 4 }, heard: [] };
  roles = [];
  reasons = [];
  directory = mkdtempSync(join(tmpdir(), 'keelson-agent-'));
  server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      const { status, answer } = answerTo(request.url ?? '', body);
      response.writeHead(status).end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  agent.kill('SIGKILL');
  if (agent.exitCode === null && agent.signalCode === null) await once(agent, 'exit');
  server.closeAllConnections();
  server.close();
  rmSync(directory, { recursive: true });
});

/** The API and the metadata of the instance, at one address. */
function answerTo(url: string, body: string): { readonly status: number; readonly answer: unknown } {
  if (url === '/latest/api/token') return { status: 200, answer: 'a-token' };
  if (url.endsWith('/instance-id')) return { status: 200, answer: 'i-1' };
  if (url.startsWith('/latest/')) return { status: 404, answer: '' };
  if (api.away) return { status: 503, answer: { error: { message: 'try again' } } };
  if (url === '/api/agents/register')
    return {
      status: 200,
      answer: { agent_id: 'agt-1', role: api.role, epoch: 4, config: { enabled: true } },
    };
  api.heard.push(JSON.parse(body) as Heartbeat);
  return { status: 200, answer: api.heartbeat };
}

function start(env: Readonly<Record<string, string>>): void {
  const { port } = server.address() as AddressInfo;
  const at = `http://127.0.0.1:${port}`;
  agent = spawn(process.execPath, [PROGRAM], {
    env: {
      ...process.env,
      KEELSON_API: at,
      KEELSON_METADATA: at,
      KEELSON_TOKEN: 'token',
      KEELSON_AGENT: 'shop',
      KEELSON_EVERY_MS: '20',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (agent.stdout === null) throw new Error('the agent has no stdout');
  createInterface(agent.stdout).on('line', (line) => {
    const { role, epoch, reason } = JSON.parse(line) as Record<string, string | undefined>;
    roles.push(`${role} ${epoch}`);
    reasons.push(reason);
  });
}

describe('a PRIMARY that hears nothing of its epoch', () => {
  it('stops serving when its lease is over and says why, and serves again once it is confirmed', async () => {
    start({ KEELSON_LEASE_SECONDS: '1' });
    await expect.poll(() => api.heard.length, SOON).toBeGreaterThan(1);
    expect(roles[0]).toBe('primary 4');
    api.away = true;
    await expect.poll(() => roles.at(-1), SOON).toBe('none 4');
    expect(reasons.at(-1)).toBe('no confirmation of epoch 4 for 1 s');
    api.heard.length = 0;
    api.away = false;
    await expect.poll(() => roles.at(-1), SOON).toBe('primary 4');
    // It asked with the epoch that it had: of another one it would have been told that it is over.
    expect(api.heard[0]).toMatchObject({ epoch: 4 });
  });

  it('does not serve again when it was replaced meanwhile', async () => {
    start({ KEELSON_LEASE_SECONDS: '1' });
    await expect.poll(() => roles.at(-1), SOON).toBe('primary 4');
    api.away = true;
    await expect.poll(() => roles.at(-1), SOON).toBe('none 4');
    api.heartbeat = { primary: false, epoch: 5, message: 'you are no longer primary' };
    api.away = false;
    await expect.poll(() => roles.at(-1), SOON).toBe('none 5');
    expect(roles).not.toContain('primary 5');
  });

  it('is refused a lease that is no number', async () => {
    start({ KEELSON_LEASE_SECONDS: 'long' });
    const [code] = (await once(agent, 'exit')) as [number];
    expect(code).toBe(2);
  });
});

describe('a replica', () => {
  const said = () => api.heard.at(-1)?.replica;
  beforeEach(() => {
    api.role = 'replica';
    api.heartbeat = { primary: false, epoch: 4, message: 'you stand by' };
  });

  it('is ready as soon as its agent runs, where nobody else is asked', async () => {
    start({});
    await expect.poll(said, SOON).toEqual({ state: 'ready', seconds_since_sync: 0 });
  });

  it('is ready while the file of the application is there, and as fresh as that', async () => {
    const file = join(directory, 'ready');
    start({ KEELSON_READY_FILE: file });
    await expect.poll(said, SOON).toEqual({ state: 'syncing' });
    writeFileSync(file, '');
    await expect.poll(said, SOON).toMatchObject({ state: 'ready' });
    const hourAgo = Date.now() / 1_000 - 3_600;
    utimesSync(file, hourAgo, hourAgo);
    await expect.poll(said, SOON).toMatchObject({ seconds_since_sync: expect.closeTo(3_600, -2) });
    rmSync(file);
    await expect.poll(said, SOON).toEqual({ state: 'syncing' });
  });

  it('is ready while the command of the application says so, with the seconds that it prints', async () => {
    const file = join(directory, 'lag');
    start({ KEELSON_READY_COMMAND: `cat ${file}` });
    await expect.poll(said, SOON).toEqual({ state: 'syncing' });
    writeFileSync(file, '12.5\n');
    await expect.poll(said, SOON).toEqual({ state: 'ready', seconds_since_sync: 12.5 });
  });
});
