import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient, SpotApi } from './api-client.ts';
import { registerAgent } from './registered-agent.ts';
import { SpotWorld } from './spot-world.ts';

const BIN = fileURLToPath(new URL('../../../bin/keelson.mjs', import.meta.url));
const run = promisify(execFile);

let world: SpotWorld;
let api: SpotApi;
beforeAll(async () => {
  world = await SpotWorld.open();
  api = new SpotApi(world);
});
afterAll(async () => {
  await api.close();
  await world.close();
});

/** A name that no client of an earlier run has. */
const newName = (): string => `shop-${randomBytes(4).toString('hex')}`;

const spot = (...args: readonly string[]) =>
  run(process.execPath, [BIN, 'spot', 'client', ...args, '--url', world.database.url]);

const isKnown = async (client: ApiClient): Promise<boolean> =>
  (await client.ask('GET', '/api/agents/agt-none/config')).status !== 401;

describe('a client of the spot agents', () => {
  it('is given another token, after which the old one is refused', async () => {
    const name = newName();
    const client = await api.addClient(name);
    expect(await isKnown(client)).toBe(true);
    const { stdout, stderr } = await spot('rotate', name);
    expect(stderr).not.toContain(stdout.trim());
    expect(await isKnown(client)).toBe(false);
    expect(await isKnown(new ApiClient(api.server, client.id, stdout.trim()))).toBe(true);
    const { stdout: listed } = await spot('list', '-o', 'json');
    expect(listed).not.toContain(stdout.trim());
  });

  it('is removed with its token, and not while agents would be left behind unasked', async () => {
    const name = newName();
    const client = await api.addClient(name);
    const { id } = await registerAgent(world, client);
    await expect(spot('remove', name)).rejects.toMatchObject({
      stderr: expect.stringContaining('has agents: 1'),
    });
    expect(await isKnown(client)).toBe(true);
    await spot('remove', name, '--keep-agents');
    expect(await isKnown(client)).toBe(false);
    expect(await world.database.rows('SELECT id FROM agents WHERE id = ?', id)).toHaveLength(1);
  });

  it('is named by its id where several have its name, and none is touched otherwise', async () => {
    const name = newName();
    const [one, other] = [await api.addClient(name), await api.addClient(name)];
    await expect(spot('remove', name)).rejects.toMatchObject({ stderr: expect.stringContaining(one.id) });
    await expect(spot('rotate', 'nobody')).rejects.toMatchObject({
      stderr: expect.stringContaining('there is no client nobody'),
    });
    expect([await isKnown(one), await isKnown(other)]).toEqual([true, true]);
    await spot('remove', one.id);
    expect([await isKnown(one), await isKnown(other)]).toEqual([false, true]);
  });
});
