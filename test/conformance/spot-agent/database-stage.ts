import { randomBytes } from 'node:crypto';
import { createPool, type Pool, type RowDataPacket } from 'mysql2/promise';
import { useStack, type StackHandle } from '../../../deploy/local/testing.ts';
import { migrateDatabase } from '../../../starter/database/migrations.ts';

/** A database of the test's own on the real server, with the real schema. */
export interface DatabaseStage extends AsyncDisposable {
  readonly url: string;
  readonly pool: Pool;
  rows(sql: string, ...values: readonly (string | number)[]): Promise<readonly RowDataPacket[]>;
  run(sql: string, ...values: readonly (string | number | null)[]): Promise<void>;
  /** A new agent with a PRIMARY at epoch 0, and any number of replicas; gives the agent's id. */
  addAgent(replicas: number): Promise<string>;
  addReplica(agent: string, instance: string): Promise<void>;
  primaries(agent: string): Promise<readonly string[]>;
}

/** Makes a database, on the stack of the tests unless another is named; it goes with all that is in it. */
export async function openDatabaseStage(connections = 8, on?: StackHandle): Promise<DatabaseStage> {
  const stack = on ?? (await useStack());
  await stack.startParts('mariadb');
  const database = `test_${randomBytes(4).toString('hex')}`;
  const url = `${stack.addresses('mariadb')['sql'] ?? ''}/${database}`;
  await migrateDatabase(url);
  const pool = createPool({ uri: url, connectionLimit: connections, timezone: 'Z' });
  const run = async (sql: string, ...values: readonly (string | number | null)[]): Promise<void> => {
    await pool.query(sql, [...values]);
  };
  const rows = async (
    sql: string,
    ...values: readonly (string | number)[]
  ): Promise<readonly RowDataPacket[]> => (await pool.query<RowDataPacket[]>(sql, [...values]))[0];
  const addInstance = (agent: string, id: string, primary: boolean): Promise<void> =>
    run(
      `INSERT INTO instances (id, client_id, agent_id, instance_type, region, az, is_primary, instance_status)
       VALUES (?, 'acme', ?, 'm5.large', 'us-east-1', 'us-east-1a', ?, ?)`,
      id,
      agent,
      primary ? 1 : 0,
      primary ? 'running_primary' : 'running_replica',
    );
  return {
    url,
    pool,
    rows,
    run,
    async addAgent(replicas) {
      const agent = `agent-${randomBytes(4).toString('hex')}`;
      await run(
        'INSERT INTO agents (id, client_id, logical_agent_id, instance_id) VALUES (?, ?, ?, ?)',
        agent,
        'acme',
        agent,
        `${agent}-p`,
      );
      await addInstance(agent, `${agent}-p`, true);
      for (let at = 0; at < replicas; at += 1) await addInstance(agent, `${agent}-r${at}`, false);
      return agent;
    },
    addReplica: (agent, instance) => addInstance(agent, instance, false),
    async primaries(agent) {
      const found = await rows('SELECT id FROM instances WHERE agent_id = ? AND is_primary', agent);
      return found.map((row) => String(row['id']));
    },
    async [Symbol.asyncDispose]() {
      await pool.query(`DROP DATABASE ${database}`);
      await pool.end();
    },
  };
}
