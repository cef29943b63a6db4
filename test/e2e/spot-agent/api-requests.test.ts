import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../../starter/http/spot/endpoints.ts';
import { SpotApi, type ApiClient } from './api-client.ts';
import { registerAgent, registration } from './registered-agent.ts';
import { SpotWorld } from './spot-world.ts';

let world: SpotWorld;
let api: SpotApi;
let client: ApiClient;
beforeAll(async () => {
  world = await SpotWorld.open();
  api = new SpotApi(world);
  client = await api.addClient();
});
afterAll(async () => {
  await api.close();
  await world.close();
});

describe('a request', () => {
  it('without a token, or with a wrong one, is refused at every endpoint', async () => {
    for (const { method, path } of ENDPOINTS) {
      const url = path.replace(':id', 'agt-1');
      const bare = await api.server.inject({ method, url });
      expect([path, bare.statusCode]).toEqual([path, 401]);
      const wrong = await api.server.inject({
        method,
        url,
        headers: { authorization: `Bearer ${'x'.repeat(40)}` },
      });
      expect([path, wrong.statusCode]).toEqual([path, 401]);
    }
  });

  it('of another client finds no agent at any endpoint, and changes nothing', async () => {
    const agent = await registerAgent(world, client);
    const replica = await world.addReadyReplica(agent.id);
    const other = await api.addClient('other');
    const bodies: Readonly<Record<string, object>> = {
      heartbeat: { instance_id: agent.instance, epoch: 0, status: 'stopping' },
      rebalanceNotice: { instance_id: agent.instance },
      terminationNotice: { instance_id: agent.instance },
      changeConfig: { auto_terminate: true },
      switchReport: { instance_id: agent.instance, success: true },
      cleanupReport: { instance_id: agent.instance, success: true },
      switch: { target_instance_id: replica },
    };
    const snapshot = async (): Promise<string> =>
      JSON.stringify([
        await world.database.rows(
          'SELECT epoch, generation, notice_status, switch_target, auto_terminate_enabled FROM agents WHERE id = ?',
          agent.id,
        ),
        await world.statuses(agent.id),
        await world.events(agent.id),
      ]);
    const before = await snapshot();
    for (const { method, path, name } of ENDPOINTS.filter((row) => row.path.includes(':id'))) {
      const url = `${path.replace(':id', agent.id)}${name === 'pendingCommands' ? `?instance_id=${agent.instance}` : ''}`;
      const answer = await other.ask(method, url, bodies[name]);
      expect([name, answer.status, answer.body]).toEqual([
        name,
        404,
        { error: { code: 'NOT_FOUND', message: 'there is no such agent' } },
      ]);
    }
    // The instance of another client's agent cannot be taken over by registering it either.
    const stolen = await other.ask('POST', '/api/agents/register', registration('mine', agent.instance));
    expect(stolen.body).toEqual({
      reason: 'the instance belongs to another agent',
      config: { enabled: false },
    });
    expect(await snapshot()).toBe(before);
  });

  it('with an Idempotency-Key is done once, answered the same, and refused for anything else', async () => {
    const agent = await registerAgent(world, client);
    const url = `/api/agents/${agent.id}/config`;
    const key = { 'idempotency-key': randomBytes(8).toString('hex') };
    const first = await client.ask('PUT', url, { auto_terminate: true }, key);
    await client.ask('PUT', url, { auto_terminate: false });
    const again = await client.ask('PUT', url, { auto_terminate: true }, key);
    expect(again.body).toEqual(first.body);
    expect(await client.ask('GET', url)).toMatchObject({ body: { config: { auto_terminate: false } } });
    expect(await client.ask('PUT', url, { auto_terminate: false }, key)).toMatchObject({ status: 422 });
    const other = await api.addClient('other');
    expect((await other.ask('PUT', url, { auto_terminate: true }, key)).status).toBe(404);
    expect((await client.ask('PUT', url, {}, { 'idempotency-key': 'ü' })).status).toBe(400);
  });

  it('whose server died under its Idempotency-Key is begun again, and old keys are forgotten', async () => {
    const agent = await registerAgent(world, client);
    const url = `/api/agents/${agent.id}/config`;
    const ask = (key: string) => client.ask('PUT', url, { auto_terminate: true }, { 'idempotency-key': key });
    const keys = async () =>
      (
        await world.database.rows(
          'SELECT idempotency_key AS id FROM idempotency_keys WHERE client_id = ?',
          client.id,
        )
      ).map((row) => row['id']);
    const died = randomBytes(8).toString('hex');
    await ask(died);
    const age = (how: string) =>
      world.database.run(
        `UPDATE idempotency_keys SET status = NULL, answer = NULL, created_at = NOW(3) - INTERVAL ${how} WHERE idempotency_key = ?`,
        died,
      );
    await age('1 SECOND');
    expect(await ask(died)).toMatchObject({ status: 409, body: { error: { code: 'IN_PROGRESS' } } });
    await age('3 MINUTE');
    expect(await ask(died)).toMatchObject({ status: 200 });
    expect(await keys()).toContain(died);
    await age('2 DAY');
    await ask(randomBytes(8).toString('hex'));
    expect(await keys()).not.toContain(died);
  });

  it('with a time that cannot be, or a name that the database would take for another, is refused in words', async () => {
    const agent = await registerAgent(world, client);
    const at = `/api/agents/${agent.id}`;
    const times = ['9999-12-31T23:59:59-12:00', '0000-01-01T00:00:00Z', '2100-01-01T00:00:00Z'];
    for (const time of times) {
      const words = {
        status: 400,
        body: { error: { message: expect.stringContaining('not of these days') } },
      };
      const instance_id = agent.instance;
      expect(await client.ask('POST', `${at}/termination-notice`, { instance_id, time })).toMatchObject(
        words,
      );
      expect(
        await client.ask('POST', `${at}/rebalance-notice`, { instance_id, notice_time: time }),
      ).toMatchObject(words);
    }
    for (const logical of [`${agent.logical} `, ` ${agent.logical}`, '', '\ud800', 'a\u0000'])
      expect(
        await client.ask('POST', '/api/agents/register', registration(logical, 'i-0123456789abcdef0')),
      ).toMatchObject({ status: 400, body: { error: { code: 'INVALID_REQUEST' } } });
    expect(await world.events(agent.id)).toEqual(['agent_registered']);
  });

  it('for what concerns all clients finds nothing where clients ask', async () => {
    expect((await client.ask('GET', '/metrics')).status).toBe(404);
  });

  it('that is too large, too early, malformed or nowhere is refused in words', async () => {
    const agent = await registerAgent(world, client);
    const at = `/api/agents/${agent.id}`;
    expect((await client.ask('POST', `${at}/heartbeat`, { x: 'x'.repeat(70_000) })).status).toBe(413);
    expect(await client.ask('POST', `${at}/heartbeat`, '{')).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_JSON' } },
    });
    expect(await client.ask('POST', `${at}/heartbeat`, { instance_id: 'x' })).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('the body, instance_id') } },
    });
    expect(
      (await client.ask('POST', `${at}/heartbeat`, 'a=b', { 'content-type': 'text/plain' })).status,
    ).toBe(415);
    expect((await client.ask('GET', `/api/agents/${'x'.repeat(80)}/config`)).status).toBe(400);
    expect((await client.ask('GET', '/api/nowhere')).status).toBe(404);
    const slow = new SpotApi(world, { perSecond: 0.5, burst: 2 });
    const eager = await slow.addClient('eager');
    const answers = [];
    for (let at = 0; at < 3; at += 1) answers.push(await eager.ask('GET', '/api/agents/agt-1/config'));
    expect(answers.map((one) => one.status)).toEqual([404, 404, 429]);
    expect(Number(answers[2]?.headers['retry-after'])).toBeGreaterThan(0);
    await slow.close();
  });
});

describe('the document', () => {
  it('describes every endpoint that is served, and every one that it describes is served', async () => {
    const { paths, openapi } = (await api.server.inject({ url: '/openapi.json' })).json<{
      openapi: string;
      paths: Record<string, Record<string, { operationId: string; responses: object; requestBody?: object }>>;
    }>();
    expect(openapi).toBe('3.1.0');
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.toSorted()).toEqual(
      ENDPOINTS.map((row) => `${row.method} ${row.path.replace(':id', '{id}')}`).toSorted(),
    );
    for (const row of ENDPOINTS) {
      const operation = paths[row.path.replace(':id', '{id}')]?.[row.method.toLowerCase()];
      expect(operation?.operationId).toBe(row.name);
      expect(operation?.requestBody !== undefined).toBe(row.body !== undefined);
    }
    expect(api.defects).toEqual([]);
  });
});
