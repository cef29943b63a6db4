import { failure } from '../../workflows/shared/failures.ts';
import { pollUntil, type Look } from '../polling.ts';
import type { MysqlClient } from './client.ts';
import type { IntendedReplica, MysqlActivities } from './contract.ts';

const OPEN = "('launching', 'syncing', 'ready')";
const POLL_MS = 250;

/** Writes down what is about to be launched. */
export async function recordReplica(mysql: MysqlClient, replica: IntendedReplica): Promise<void> {
  const { id, clientId, agentId, instanceType, region, az, market, emergency, reason } = replica;
  await mysql.write(
    { system: 'mysql', verb: 'record-replica', target: id },
    `INSERT IGNORE INTO replica_instances
       (id, client_id, agent_id, instance_type, region, az, market, emergency, reason, status)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'launching')`,
    [id, clientId, agentId, instanceType, region, az, market, emergency, reason],
  );
}

/** Gives a replica its instance. The instance's row comes first: what is linked can be ended and promoted. */
export async function linkReplica(
  mysql: MysqlClient,
  { replica, instanceId }: { readonly replica: string; readonly instanceId: string },
): Promise<void> {
  await mysql.write(
    { system: 'mysql', verb: 'record-instance', target: instanceId },
    `INSERT IGNORE INTO instances (id, client_id, agent_id, instance_type, region, az, market, instance_status, launched_at)
     SELECT ?, client_id, agent_id, instance_type, region, az, market, 'launching', NOW(3)
       FROM replica_instances WHERE id = ?`,
    [instanceId, replica],
  );
  const linked = await mysql.write(
    { system: 'mysql', verb: 'link-replica', target: replica },
    'UPDATE replica_instances SET instance_id = ? WHERE id = ? AND (instance_id IS NULL OR instance_id = ?)',
    [instanceId, replica, instanceId],
  );
  if (linked === 0)
    throw failure('ResourceGone', `replica ${replica} is gone, or has another instance than ${instanceId}`);
}

/** Ends a replica. The instance's row changes first: from then on the procedure refuses it. */
export async function closeReplica(
  mysql: MysqlClient,
  { replica, to, error }: Parameters<MysqlActivities['closeSpotReplica']>[0],
): Promise<void> {
  await mysql.write(
    { system: 'mysql', verb: 'retire-replica', target: replica },
    `UPDATE instances JOIN replica_instances ON replica_instances.instance_id = instances.id
        SET instances.instance_status = 'terminating', instances.terminated_at = NOW(3), instances.version = instances.version + 1
      WHERE replica_instances.id = ? AND instances.instance_status IN ('launching', 'running_replica', 'promoting')`,
    [replica],
  );
  await mysql.write(
    { system: 'mysql', verb: 'close-replica', target: replica },
    `UPDATE replica_instances SET status = ?, error = COALESCE(?, error), terminated_at = NOW(3)
      WHERE id = ? AND status IN ${OPEN}`,
    [to, error, replica],
  );
  const [row] = await mysql.read('SELECT status FROM replica_instances WHERE id = ?', [replica]);
  if (row?.['status'] === 'promoted') throw failure('NotPromotable', `replica ${replica} has become PRIMARY`);
}

/** Waits for the first replica that its own agent has called ready. */
export async function awaitReplica(
  mysql: MysqlClient,
  { replicas, untilMs }: Parameters<MysqlActivities['awaitSpotReplica']>[0],
): Promise<Awaited<ReturnType<MysqlActivities['awaitSpotReplica']>>> {
  return pollUntil(
    POLL_MS,
    async (): Promise<Look<Awaited<ReturnType<MysqlActivities['awaitSpotReplica']>>>> => {
      const rows = await mysql.read(
        `SELECT id, status, last_sync_at > NOW(3) - INTERVAL 60 SECOND AS fresh FROM replica_instances WHERE id IN (${replicas.map(() => '?').join(', ') || "''"})`,
        replicas,
      );
      const ready = rows.find((row) => row['status'] === 'ready' && row['fresh'] === 1);
      if (ready !== undefined) return { done: { ready: String(ready['id']), message: 'ready' } };
      const message = rows.map((row) => `${String(row['id'])} is ${String(row['status'])}`).join(', ');
      const open = rows.some((row) => ['launching', 'syncing', 'ready'].includes(String(row['status'])));
      if (!open) return { done: { ready: null, message: message || 'no such replica' } };
      return Date.now() >= untilMs
        ? { done: { ready: null, message: `the time is over: ${message}` } }
        : { waiting: message };
    },
  );
}
