import type { Remembrance } from '../../workflows/spot-agent/domain/orphans.ts';
import type { MysqlClient, SqlRow } from './client.ts';
import type { MysqlActivities } from './contract.ts';

/** The regions of agents and of instances, also of those whose agent is gone. */
export async function readRegions(mysql: MysqlClient): Promise<readonly string[]> {
  const rows = await mysql.read(
    "SELECT region FROM agents WHERE region <> '' UNION SELECT region FROM instances WHERE region <> '' ORDER BY 1",
  );
  return rows.map((row) => String(row['region']));
}

/** What the database remembers of instances that are tagged as ours. */
export async function readRemembrance(
  mysql: MysqlClient,
  { agentIds, instanceIds, replicaIds }: Parameters<MysqlActivities['readSpotRemembrance']>[0],
): Promise<Remembrance> {
  const among = async (sql: string, values: readonly string[]): Promise<readonly SqlRow[]> =>
    values.length === 0 ? [] : mysql.read(`${sql} (${values.map(() => '?').join(', ')})`, values);
  const agents = await among('SELECT id FROM agents WHERE id IN', agentIds);
  const instances = await among(
    'SELECT id, agent_id AS agentId, is_primary AS isPrimary FROM instances WHERE id IN',
    instanceIds,
  );
  const replicas = await among(
    'SELECT id, agent_id AS agentId FROM replica_instances WHERE id IN',
    replicaIds,
  );
  return {
    nowMs: Date.now(),
    agents: agents.map((row) => String(row['id'])),
    instances: instances.map((row) => ({
      id: String(row['id']),
      agentId: String(row['agentId']),
      isPrimary: row['isPrimary'] === 1,
    })),
    replicas: replicas.map((row) => ({ id: String(row['id']), agentId: String(row['agentId']) })),
  };
}
