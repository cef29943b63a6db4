import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMysqlActivities } from '../../../activities/mysql/activities.ts';
import { createMysqlClient, type MysqlClient } from '../../../activities/mysql/client.ts';
import type { IncomingNotice, MysqlActivities } from '../../../activities/mysql/contract.ts';
import { noMutationHook } from '../../../activities/mutations.ts';
import { openDatabaseStage, type DatabaseStage } from './database-stage.ts';

let stage: DatabaseStage;
let client: MysqlClient;
let mysql: MysqlActivities;
beforeAll(async () => {
  stage = await openDatabaseStage();
  client = createMysqlClient(stage.url, noMutationHook);
  mysql = createMysqlActivities(client);
});
afterAll(async () => {
  await client.close();
  await stage[Symbol.asyncDispose]();
});

const refOf = (agent: string) => ({ namespace: 'acme', name: agent });
const noticeOf = (agentId: string, change: Partial<IncomingNotice> = {}): IncomingNotice => ({
  agentId,
  kind: 'termination',
  instanceId: `${agentId}-p`,
  atMs: 1_000,
  receivedAtMs: 1_767_225_600_000,
  deadlineMs: 1_767_225_720_000,
  source: 'agent',
  ...change,
});
const replicaOf = (agentId: string, id: string) => ({
  id,
  agentId,
  clientId: 'acme',
  instanceType: 'c5.large',
  region: 'us-east-1',
  az: 'us-east-1b',
  market: 'spot' as const,
  emergency: true,
  reason: 'a test',
});
const eventsOf = async (agent: string): Promise<readonly string[]> =>
  (await stage.rows('SELECT event_type FROM system_events WHERE agent_id = ? ORDER BY id', agent)).map(
    (row) => String(row['event_type']),
  );

describe('the rows of an agent', () => {
  it('are read at one instant, with times in milliseconds and flags as flags', async () => {
    const agent = await stage.addAgent(1);
    await stage.run(
      `UPDATE agents SET auto_switch_enabled = TRUE, last_heartbeat_at = '2026-01-01 00:00:00.250', launch_config = ? WHERE id = ?`,
      JSON.stringify({
        imageId: 'ami-1',
        pools: [{ instanceType: 'm5.large', az: 'us-east-1a', subnetId: null }],
        onDemand: true,
        maxMovesPerHour: 4,
      }),
      agent,
    );
    const rows = await mysql.readSpotRows(refOf(agent));
    expect(rows?.agent).toMatchObject({
      id: agent,
      clientId: 'acme',
      epoch: 0,
      generation: 1,
      autoSwitch: true,
      autoTerminate: false,
      notice: null,
      lastHeartbeatMs: Date.UTC(2026, 0, 1) + 250,
      launch: { imageId: 'ami-1', onDemand: true },
      replicasEver: 0,
      movesMs: [],
    });
    expect(rows?.instances.map((one) => [one.id, one.status])).toEqual([
      [`${agent}-p`, 'running_primary'],
      [`${agent}-r0`, 'running_replica'],
    ]);
    expect(Math.abs((rows?.nowMs ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  it('are nothing for another client, and for an agent that does not exist', async () => {
    const agent = await stage.addAgent(0);
    expect(await mysql.readSpotRows({ namespace: 'other', name: agent })).toBeNull();
    expect(await mysql.readSpotRows(refOf('nobody'))).toBeNull();
  });
});

describe('a notice', () => {
  it('has one effect, however often, late and from wherever it comes', async () => {
    const agent = await stage.addAgent(1);
    const first = await mysql.recordSpotNotice(noticeOf(agent));
    expect(first).toMatchObject({
      effect: 'new',
      rows: { agent: { generation: 2, notice: { kind: 'termination' } } },
    });
    expect(await mysql.recordSpotNotice(noticeOf(agent))).toMatchObject({ effect: 'known' });
    const second = noticeOf(agent, { atMs: 2_000, source: 'eventbridge' });
    expect(await mysql.recordSpotNotice(second)).toMatchObject({
      effect: 'known',
      rows: { agent: { generation: 2 } },
    });
    expect(await mysql.recordSpotNotice(noticeOf(agent, { kind: 'rebalance' }))).toMatchObject({
      effect: 'known',
    });
    await mysql.promoteSpotInstance({ agentId: agent, instanceId: `${agent}-r0`, expectedEpoch: 0 });
    expect(await mysql.recordSpotNotice(noticeOf(agent, { atMs: 3_000 }))).toMatchObject({ effect: 'past' });
  });

  it('of termination takes the place of a recommendation, and not the other way round', async () => {
    const agent = await stage.addAgent(0);
    const rebalance = noticeOf(agent, { kind: 'rebalance', deadlineMs: null });
    expect(await mysql.recordSpotNotice(rebalance)).toMatchObject({ effect: 'new' });
    expect(await mysql.recordSpotNotice(noticeOf(agent))).toMatchObject({
      effect: 'new',
      rows: { agent: { notice: { kind: 'termination', deadlineMs: 1_767_225_720_000 } } },
    });
    expect(await eventsOf(agent)).toEqual(['rebalance_notice', 'termination_notice']);
  });

  it('that expired is not taken up again by a repetition of it', async () => {
    const agent = await stage.addAgent(0);
    const rebalance = noticeOf(agent, { kind: 'rebalance', deadlineMs: null });
    await mysql.recordSpotNotice(rebalance);
    await mysql.clearSpotNotice({ agentId: agent, instanceId: `${agent}-p`, notice: 'rebalance' });
    expect(await mysql.recordSpotNotice(rebalance)).toMatchObject({
      effect: 'known',
      rows: { agent: { notice: null } },
    });
  });

  it('is cleared only if it is still the one that was meant', async () => {
    const agent = await stage.addAgent(0);
    await mysql.recordSpotNotice(noticeOf(agent));
    await mysql.clearSpotNotice({ agentId: agent, instanceId: `${agent}-p`, notice: 'rebalance' });
    expect((await mysql.readSpotRows(refOf(agent)))?.agent.notice).not.toBeNull();
  });

  it('for a replica makes that replica useless, and leaves the PRIMARY alone', async () => {
    const agent = await stage.addAgent(0);
    await mysql.recordSpotReplica(replicaOf(agent, `${agent}-rep`));
    await mysql.linkSpotReplica({ replica: `${agent}-rep`, instanceId: `${agent}-x` });
    const told = await mysql.recordSpotNotice(noticeOf(agent, { instanceId: `${agent}-x` }));
    expect(told).toMatchObject({
      effect: 'replica',
      rows: { agent: { notice: null }, replicas: [{ status: 'failed' }] },
    });
    await expect(
      mysql.promoteSpotInstance({ agentId: agent, instanceId: `${agent}-x`, expectedEpoch: 0 }),
    ).rejects.toMatchObject({ type: 'NotPromotable' });
  });

  it('for an agent that does not exist is nothing', async () => {
    expect(await mysql.recordSpotNotice(noticeOf('nobody'))).toBeNull();
  });
});

describe('a replica', () => {
  it('is a row before it is an instance, and both may be written twice', async () => {
    const agent = await stage.addAgent(0);
    for (let at = 0; at < 2; at += 1) {
      await mysql.recordSpotReplica(replicaOf(agent, `${agent}-rep`));
      await mysql.linkSpotReplica({ replica: `${agent}-rep`, instanceId: `${agent}-x` });
    }
    const rows = await mysql.readSpotRows(refOf(agent));
    expect(rows?.replicas).toMatchObject([
      { instanceId: `${agent}-x`, status: 'launching', emergency: true },
    ]);
    expect(rows?.instances.find((one) => one.id === `${agent}-x`)).toMatchObject({ status: 'launching' });
    expect(rows?.agent.replicasEver).toBe(1);
    await expect(
      mysql.linkSpotReplica({ replica: `${agent}-rep`, instanceId: `${agent}-other` }),
    ).rejects.toMatchObject({ type: 'ResourceGone' });
  });

  it('that is closed cannot be promoted, and one that was promoted cannot be closed', async () => {
    const agent = await stage.addAgent(0);
    for (const name of ['a', 'b']) {
      await mysql.recordSpotReplica(replicaOf(agent, `${agent}-${name}`));
      await mysql.linkSpotReplica({ replica: `${agent}-${name}`, instanceId: `${agent}-i${name}` });
    }
    const close = (name: string) =>
      mysql.closeSpotReplica({ replica: `${agent}-${name}`, to: 'terminated', error: null });
    await close('a');
    await close('a');
    await expect(
      mysql.promoteSpotInstance({ agentId: agent, instanceId: `${agent}-ia`, expectedEpoch: 0 }),
    ).rejects.toMatchObject({ type: 'NotPromotable' });
    await mysql.promoteSpotInstance({ agentId: agent, instanceId: `${agent}-ib`, expectedEpoch: 0 });
    await expect(close('b')).rejects.toMatchObject({ type: 'NotPromotable' });
    expect(await stage.primaries(agent)).toEqual([`${agent}-ib`]);
  });

  it('is waited for until its own agent says that it is ready, or until it cannot be any more', async () => {
    const agent = await stage.addAgent(0);
    await mysql.recordSpotReplica(replicaOf(agent, `${agent}-rep`));
    const waiting = mysql.awaitSpotReplica({ replicas: [`${agent}-rep`], untilMs: Date.now() + 60_000 });
    await stage.run(
      "UPDATE replica_instances SET status = 'ready', last_sync_at = UTC_TIMESTAMP(3) WHERE id = ?",
      `${agent}-rep`,
    );
    expect(await waiting).toMatchObject({ ready: `${agent}-rep` });
    await stage.run("UPDATE replica_instances SET status = 'failed' WHERE id = ?", `${agent}-rep`);
    const untilMs = Date.now() + 60_000;
    expect(await mysql.awaitSpotReplica({ replicas: [`${agent}-rep`], untilMs })).toMatchObject({
      ready: null,
    });
    await stage.run("UPDATE replica_instances SET status = 'syncing' WHERE id = ?", `${agent}-rep`);
    expect(await mysql.awaitSpotReplica({ replicas: [`${agent}-rep`], untilMs: 0 })).toMatchObject({
      ready: null,
      message: expect.stringContaining('the time is over'),
    });
  });
});

describe('an instance', () => {
  it('is closed once, with its event, and never while it is PRIMARY', async () => {
    const agent = await stage.addAgent(1);
    const close = (instanceId: string) =>
      mysql.closeSpotInstance({ instanceId, event: 'TerminationConfirmed' });
    await expect(close(`${agent}-p`)).rejects.toMatchObject({ type: 'NotPromotable' });
    await close(`${agent}-r0`);
    await close(`${agent}-r0`);
    const [row] = await stage.rows('SELECT instance_status FROM instances WHERE id = ?', `${agent}-r0`);
    expect(row).toMatchObject({ instance_status: 'terminated' });
    expect(await eventsOf(agent)).toEqual(['instance_terminated']);
  });
});

describe('the status', () => {
  it('is written to the agent that is meant, and to no other of that name', async () => {
    const agent = await stage.addAgent(0);
    const uid = (await mysql.readSpotRows(refOf(agent)))?.agent.uid ?? '';
    await mysql.writeSpotStatus({ agentId: agent, uid, phase: 'Serving', message: '', carriedOut: 1 });
    expect((await mysql.readSpotRows(refOf(agent)))?.agent).toMatchObject({
      phase: 'Serving',
      carriedOut: 1,
    });
    await expect(
      mysql.writeSpotStatus({ agentId: agent, uid: 'other', phase: 'Failed', message: '', carriedOut: 1 }),
    ).rejects.toMatchObject({ type: 'ResourceGone' });
  });
});
