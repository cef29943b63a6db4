import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentIdOf } from '../../../starter/http/spot/registration.ts';
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

const launchConfig = (): object => ({
  image_id: world.ec2.imageId,
  pools: ['us-east-1b', 'us-east-1c'].map((az) => ({ instance_type: 'm5.large', az })),
});

const ready = { state: 'ready', seconds_since_sync: 1 };

describe('an agent', () => {
  it('that lost its PRIMARY takes the next one that registers, with an epoch of its own', async () => {
    const agent = await registerAgent(world, client);
    await world.database.run(
      "UPDATE instances SET is_primary = FALSE, instance_status = 'terminated' WHERE id = ?",
      agent.instance,
    );
    const next = `i-${randomBytes(8).toString('hex')}0`;
    const answer = await client.ask('POST', '/api/agents/register', registration(agent.logical, next));
    expect(answer).toMatchObject({ status: 200, body: { role: 'primary', epoch: 1 } });
    const old = { instance_id: agent.instance, epoch: 0 };
    expect(await client.ask('POST', `/api/agents/${agent.id}/heartbeat`, old)).toMatchObject({
      body: { primary: false, epoch: 1 },
    });
  });

  it('registers, is configured, prepares a replica, and moves to it by a termination notice', async () => {
    const agent = await registerAgent(world, client);
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
    const agent = await registerAgent(world, client);
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

  it('that registers many times at once is registered once, and every answer says so', async () => {
    const logical = `app-${randomBytes(4).toString('hex')}`;
    const instance = `i-${randomBytes(8).toString('hex')}`;
    const other = `i-${randomBytes(8).toString('hex')}`;
    const ask = (id: string) => client.ask('POST', '/api/agents/register', registration(logical, id));
    const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => ask(at % 2 ? instance : other)));
    // A deadlock is a busy database, which is said so; whoever comes again then finds who was first.
    expect(answers.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
    const [first, ...others] = await world.database.primaries(agentIdOf(client.id, logical));
    expect(others).toEqual([]);
    const loser = first === instance ? other : instance;
    expect(await ask(first ?? '')).toMatchObject({ status: 200, body: { role: 'primary', epoch: 0 } });
    expect(await ask(loser)).toMatchObject({ status: 200, body: { config: { enabled: false } } });
    expect(api.defects).toEqual([]);
  });

  it('that says it is stopping within a rebalance window is replaced at once', async () => {
    const agent = await registerAgent(world, client);
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
    const agent = await registerAgent(world, client);
    await client.ask('PUT', `/api/agents/${agent.id}/config`, { launch: launchConfig() });
    const body = { instance_id: agent.instance, notice_time: '2026-01-01T00:00:00Z' };
    const answer = await client.ask('POST', `/api/agents/${agent.id}/rebalance-notice`, body);
    expect(answer.body).toMatchObject({
      data: { action: 'preparing', emergency_replica_id: expect.stringMatching(/^rep-/), deadline: null },
    });
  });

  it('is switched to a replica that is named, and to nothing else', async () => {
    const agent = await registerAgent(world, client);
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
    const agent = await registerAgent(world, client);
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
    const agent = await registerAgent(world, client);
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
