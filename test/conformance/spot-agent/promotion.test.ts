import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMysqlActivities } from '../../../activities/mysql/activities.ts';
import { createMysqlClient, type MysqlClient } from '../../../activities/mysql/client.ts';
import { noMutationHook } from '../../../activities/mutations.ts';
import { migrateDatabase } from '../../../starter/database/migrations.ts';
import { openDatabaseStage, type DatabaseStage } from './database-stage.ts';

let stage: DatabaseStage;
let client: MysqlClient;
beforeAll(async () => {
  stage = await openDatabaseStage();
  client = createMysqlClient(stage.url, noMutationHook);
});
afterAll(async () => {
  await client.close();
  await stage[Symbol.asyncDispose]();
});

const promote = (agent: string, instance: string, epoch: number): Promise<void> =>
  stage.run('CALL promote_instance_to_primary(?, ?, ?)', instance, agent, epoch);

const instance = async (id: string): Promise<Record<string, unknown>> =>
  (await stage.rows('SELECT * FROM instances WHERE id = ?', id))[0] ?? {};

describe('promote_instance_to_primary', () => {
  it('makes the replica PRIMARY and the one before it a ZOMBIE, and raises the epoch by one', async () => {
    const agent = await stage.addAgent(1);
    await promote(agent, `${agent}-r0`, 0);
    expect(await stage.primaries(agent)).toEqual([`${agent}-r0`]);
    expect(await instance(`${agent}-p`)).toMatchObject({ instance_status: 'zombie', is_primary: 0 });
    expect((await instance(`${agent}-p`))['terminated_at']).not.toBeNull();
    expect(await instance(`${agent}-r0`)).toMatchObject({ instance_status: 'running_primary', epoch: 1 });
    const [row] = await stage.rows('SELECT epoch, instance_id FROM agents WHERE id = ?', agent);
    expect(row).toMatchObject({ epoch: 1, instance_id: `${agent}-r0` });
    const events = await stage.rows('SELECT event_type FROM system_events WHERE agent_id = ?', agent);
    expect(events).toMatchObject([{ event_type: 'instance_promoted' }]);
  });

  it('tells the second of two with the same version "version conflict", and changes nothing', async () => {
    const agent = await stage.addAgent(2);
    await promote(agent, `${agent}-r0`, 0);
    await expect(promote(agent, `${agent}-r1`, 0)).rejects.toMatchObject({
      message: 'version conflict',
      sqlState: '45000',
    });
    expect(await stage.primaries(agent)).toEqual([`${agent}-r0`]);
    expect(await instance(`${agent}-r1`)).toMatchObject({ instance_status: 'running_replica' });
  });

  it('takes the row of an instance that is only being prepared from replica_instances', async () => {
    const agent = await stage.addAgent(0);
    await stage.run(
      `INSERT INTO replica_instances (id, client_id, agent_id, instance_id, instance_type, az, status)
       VALUES (?, 'acme', ?, ?, 'c5.large', 'us-east-1b', 'ready')`,
      `${agent}-replica`,
      agent,
      `${agent}-new`,
    );
    await promote(agent, `${agent}-new`, 0);
    expect(await instance(`${agent}-new`)).toMatchObject({
      instance_status: 'running_primary',
      instance_type: 'c5.large',
      az: 'us-east-1b',
      client_id: 'acme',
    });
    const [replica] = await stage.rows('SELECT status FROM replica_instances WHERE agent_id = ?', agent);
    expect(replica).toMatchObject({ status: 'promoted' });
  });

  it.each([
    ['an unknown agent', 'nobody', 'x', 'unknown agent'],
    ['an unknown instance', null, 'i-unknown', 'instance cannot be promoted: it is not known as a replica'],
    ['a zombie', null, 'zombie', 'instance cannot be promoted: it is no replica'],
    ['the PRIMARY itself', null, 'primary', 'instance cannot be promoted: it is no replica'],
    [
      'an instance of another agent',
      null,
      'other',
      'instance cannot be promoted: it belongs to another agent',
    ],
  ])('refuses %s, leaves the epoch as it was, and says why', async (_, agentId, candidate, message) => {
    const agent = await stage.addAgent(1);
    const other = await stage.addAgent(1);
    await promote(agent, `${agent}-r0`, 0);
    const id = { zombie: `${agent}-p`, primary: `${agent}-r0`, other: `${other}-r0` }[candidate] ?? candidate;
    await expect(promote(agentId ?? agent, id, 1)).rejects.toMatchObject({ message, sqlState: '45000' });
    const [row] = await stage.rows('SELECT epoch FROM agents WHERE id = ?', agent);
    expect(row).toMatchObject({ epoch: 1 });
    expect(await stage.primaries(agent)).toEqual([`${agent}-r0`]);
  });

  it('leaves the caller’s lock limit as it was, after success and after refusal', async () => {
    const agent = await stage.addAgent(1);
    const connection = await stage.pool.getConnection();
    try {
      await connection.query('SET SESSION innodb_lock_wait_timeout = 17');
      await connection.query('CALL promote_instance_to_primary(?, ?, 0)', [`${agent}-r0`, agent]);
      await expect(
        connection.query('CALL promote_instance_to_primary(?, ?, 0)', [`${agent}-r0`, agent]),
      ).rejects.toThrow('version conflict');
      const [found] = await connection.query('SELECT @@SESSION.innodb_lock_wait_timeout AS seconds');
      expect(found).toEqual([{ seconds: 17 }]);
    } finally {
      connection.destroy();
    }
  });
});

describe('the schema', () => {
  it('refuses a second PRIMARY whoever writes it, and a role that the status denies', async () => {
    const agent = await stage.addAgent(1);
    await expect(
      stage.run(
        "UPDATE instances SET is_primary = TRUE, instance_status = 'running_primary' WHERE id = ?",
        `${agent}-r0`,
      ),
    ).rejects.toMatchObject({ errno: 1062 });
    await expect(
      stage.run('UPDATE instances SET is_primary = TRUE WHERE id = ?', `${agent}-r0`),
    ).rejects.toThrow('chk_instances_role');
  });

  it('refuses auto-switch and manual replica together', async () => {
    const agent = await stage.addAgent(0);
    await expect(
      stage.run(
        'UPDATE agents SET auto_switch_enabled = TRUE, manual_replica_enabled = TRUE WHERE id = ?',
        agent,
      ),
    ).rejects.toThrow('chk_agents_modes');
  });

  it('has the index of the specification', async () => {
    const rows = await stage.rows(
      'SHOW INDEX FROM instances WHERE Key_name = ?',
      'idx_instances_agent_primary',
    );
    expect(rows.map((row) => String(row['Column_name']))).toEqual([
      'agent_id',
      'is_primary',
      'instance_status',
    ]);
  });

  it('is left alone by a second migration, and by several at the same time', async () => {
    const again = await Promise.all([1, 2, 3].map(() => migrateDatabase(stage.url)));
    expect(again.map((one) => one.applied)).toEqual([[], [], []]);
  });

  it('refuses to go on when a migration that was applied has changed since', async () => {
    await stage.run("UPDATE schema_migrations SET checksum = 'other' WHERE name = '001-tables.sql'");
    await expect(migrateDatabase(stage.url)).rejects.toThrow('001-tables.sql was applied with other words');
  });
});

describe('the activity', () => {
  it('takes its own earlier success for success, and a foreign one for a conflict', async () => {
    const agent = await stage.addAgent(2);
    const { promoteSpotInstance } = createMysqlActivities(client);
    const first = { agentId: agent, instanceId: `${agent}-r0`, expectedEpoch: 0 };
    expect(await promoteSpotInstance(first)).toMatchObject({ epoch: 1, repeated: false });
    expect(await promoteSpotInstance(first)).toMatchObject({ epoch: 1, repeated: true });
    await expect(promoteSpotInstance({ ...first, instanceId: `${agent}-r1` })).rejects.toMatchObject({
      type: 'VersionConflict',
    });
    await promoteSpotInstance({ ...first, instanceId: `${agent}-r1`, expectedEpoch: 1 });
    await expect(promoteSpotInstance(first)).rejects.toMatchObject({ type: 'VersionConflict' });
  });
});
