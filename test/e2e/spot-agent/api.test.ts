import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../../starter/http/spot/endpoints.ts';
import { agentIdOf } from '../../../starter/http/spot/registration.ts';
import { REGION } from '../../conformance/spot-agent/ec2-stage.ts';
import { SpotApi, type ApiClient } from './api-client.ts';
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

interface Registered {
  readonly id: string;
  readonly logical: string;
  readonly instance: string;
}

const registration = (logical: string, instance: string, change: object = {}): object => ({
  logical_agent_id: logical,
  instance_id: instance,
  instance_type: 'm5.large',
  region: REGION,
  az: 'us-east-1a',
  is_primary: true,
  ...change,
});

const launchConfig = (): object => ({
  image_id: world.ec2.imageId,
  pools: ['us-east-1b', 'us-east-1c'].map((az) => ({ instance_type: 'm5.large', az })),
});

/** An agent that registers from an instance that really runs in the emulator. */
async function registerAgent(by: ApiClient = client): Promise<Registered> {
  const logical = `app-${randomBytes(4).toString('hex')}`;
  const id = agentIdOf(by.id, logical);
  const launch = world.ec2.launchOf(id, { az: 'us-east-1a', clientId: by.id });
  const { instanceId } = await world.ec2.activities.launchEc2Instance(launch);
  const answer = await by.ask('POST', '/api/agents/register', registration(logical, instanceId));
  expect(answer).toMatchObject({ status: 200, body: { agent_id: id, role: 'primary', epoch: 0 } });
  return { id, logical, instance: instanceId };
}

const ready = { state: 'ready', seconds_since_sync: 1 };

describe('an agent', () => {
  it('registers, is configured, prepares a replica, and moves to it by a termination notice', async () => {
    const agent = await registerAgent();
    const at = `/api/agents/${agent.id}`;
    const config = { manual_replica: true, launch: launchConfig() };
    expect(await client.ask('PUT', `${at}/config`, config)).toMatchObject({
      status: 200,
      body: { config: { manual_replica: true, auto_switch: false } },
    });
    let replica = '';
    await world.until('a replica is launched', agent.id, async () => {
      const { body } = await client.ask('GET', `${at}/emergency-status`);
      const [first] = body['replicas'] as readonly { readonly instance_id: string | null }[];
      replica = first?.instance_id ?? '';
      return replica !== '';
    });
    const asReplica = registration(agent.logical, replica, { is_primary: false, az: 'us-east-1b' });
    expect(await client.ask('POST', '/api/agents/register', asReplica)).toMatchObject({
      body: { role: 'replica' },
    });
    const beat = { instance_id: replica, replica: ready };
    expect(await client.ask('POST', `${at}/heartbeat`, beat)).toMatchObject({
      body: { primary: false, message: 'you stand by' },
    });
    const notice = await client.ask('POST', `${at}/termination-notice`, { instance_id: agent.instance });
    expect(notice).toMatchObject({
      status: 200,
      body: { data: { action: 'promoted', primary_instance_id: replica, epoch: 1 } },
    });
    const old = { instance_id: agent.instance, epoch: 0 };
    expect(await client.ask('POST', `${at}/heartbeat`, old)).toMatchObject({
      body: { primary: false, epoch: 1, message: 'you are no longer primary' },
    });
    expect(await client.ask('GET', `${at}/pending-commands?instance_id=${agent.instance}`)).toMatchObject({
      body: { commands: [{ type: 'stop-serving', priority: 100 }] },
    });
    expect(await client.ask('GET', `${at}/pending-commands?instance_id=${replica}`)).toMatchObject({
      body: { commands: [{ type: 'serve', epoch: 1 }] },
    });
    expect(await client.ask('POST', `${at}/heartbeat`, { instance_id: replica, epoch: 1 })).toMatchObject({
      body: { primary: true, epoch: 1 },
    });
  });

  it('that was replaced is refused when it registers again, and so is everybody who is not PRIMARY', async () => {
    const agent = await registerAgent();
    const replica = await world.addReadyReplica(agent.id);
    await client.ask('POST', `/api/agents/${agent.id}/termination-notice`, { instance_id: agent.instance });
    const register = (instance: string, change: object = {}) =>
      client.ask('POST', '/api/agents/register', registration(agent.logical, instance, change));
    expect(await register(agent.instance)).toMatchObject({
      status: 200,
      body: { config: { enabled: false } },
    });
    expect(await register('i-0123456789abcdef0')).toMatchObject({
      body: { reason: expect.stringContaining('version conflict'), config: { enabled: false } },
    });
    expect(await register('i-0123456789abcdef0', { is_primary: false })).toMatchObject({
      body: { config: { enabled: false } },
    });
    expect(await register(replica)).toMatchObject({
      body: { role: 'primary', epoch: 1, config: { enabled: true } },
    });
    expect(await register(replica)).toMatchObject({ body: { role: 'primary', epoch: 1 } });
    expect(await world.database.primaries(agent.id)).toEqual([replica]);
  });

  it('that says it is stopping within a rebalance window is replaced at once', async () => {
    const agent = await registerAgent();
    const at = `/api/agents/${agent.id}`;
    const replica = await world.addReadyReplica(agent.id);
    await client.ask('POST', `${at}/rebalance-notice`, { instance_id: agent.instance });
    expect(await world.database.primaries(agent.id)).toEqual([agent.instance]);
    const beat = { instance_id: agent.instance, epoch: 0, status: 'stopping' };
    expect(await client.ask('POST', `${at}/heartbeat`, beat)).toMatchObject({
      body: { primary: false, epoch: 1 },
    });
    expect(await world.database.primaries(agent.id)).toEqual([replica]);
  });

  it('gets an emergency replica named in the answer to a recommendation', async () => {
    const agent = await registerAgent();
    await client.ask('PUT', `/api/agents/${agent.id}/config`, { launch: launchConfig() });
    const body = { instance_id: agent.instance, notice_time: '2026-01-01T00:00:00Z' };
    const answer = await client.ask('POST', `/api/agents/${agent.id}/rebalance-notice`, body);
    expect(answer.body).toMatchObject({
      data: { action: 'preparing', emergency_replica_id: expect.stringMatching(/^rep-/), deadline: null },
    });
  });

  it('is switched to a replica that is named, and to nothing else', async () => {
    const agent = await registerAgent();
    const at = `/api/agents/${agent.id}`;
    expect(
      await client.ask('POST', `${at}/switch`, { target_instance_id: 'i-0123456789abcdef0' }),
    ).toMatchObject({
      status: 409,
      body: { error: { code: 'NOT_A_REPLICA' } },
    });
    const replica = await world.addReadyReplica(agent.id);
    expect((await client.ask('POST', `${at}/switch`, { target_instance_id: replica })).status).toBe(200);
    await world.until('the replica is PRIMARY', agent.id, async () =>
      (await world.database.primaries(agent.id)).includes(replica),
    );
    const report = { instance_id: replica, success: true, message: 'took over' };
    expect(await client.ask('POST', `${at}/switch-report`, { ...report, epoch: 0 })).toMatchObject({
      status: 409,
      body: { error: { code: 'NOT_PRIMARY', message: expect.stringContaining('you are no longer primary') } },
    });
    expect((await client.ask('POST', `${at}/switch-report`, { ...report, epoch: 1 })).status).toBe(200);
    await world.until('nothing is left to do', agent.id, async () => {
      const { status, body } = await client.ask('POST', `${at}/decide`);
      return status === 200 && body['operation'] === 'none';
    });
  });

  it('cannot have auto-switch and manual replica together', async () => {
    const agent = await registerAgent();
    const both = { auto_switch: true, manual_replica: true, launch: launchConfig() };
    const before = await client.ask('GET', `/api/agents/${agent.id}/config`);
    expect(await client.ask('PUT', `/api/agents/${agent.id}/config`, both)).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_CONFIGURATION' } },
    });
    expect(await client.ask('GET', `/api/agents/${agent.id}/config`)).toMatchObject({ body: before.body });
  });
});

describe('a replica', () => {
  it('is ready only by its own reports: synced within a minute, and without an error', async () => {
    const agent = await registerAgent();
    const replica = await world.addReadyReplica(agent.id);
    await world.database.run(
      "UPDATE replica_instances SET status = 'launching' WHERE agent_id = ?",
      agent.id,
    );
    const status = async (report: object): Promise<unknown> => {
      const beat = { instance_id: replica, replica: report };
      await client.ask('POST', `/api/agents/${agent.id}/heartbeat`, beat);
      const [row] = await world.database.rows(
        'SELECT status FROM replica_instances WHERE agent_id = ?',
        agent.id,
      );
      return row?.['status'];
    };
    expect(await status({ state: 'syncing' })).toBe('syncing');
    expect(await status({ state: 'ready' })).toBe('syncing');
    expect(await status({ state: 'ready', seconds_since_sync: 61 })).toBe('syncing');
    expect(await status({ state: 'ready', seconds_since_sync: 1, error: 'no space' })).toBe('syncing');
    expect(await status(ready)).toBe('ready');
  });
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
    const agent = await registerAgent();
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
    const agent = await registerAgent();
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

  it('that is too large, too early, malformed or nowhere is refused in words', async () => {
    const agent = await registerAgent();
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
