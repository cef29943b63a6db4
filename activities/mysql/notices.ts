import type { MysqlClient } from './client.ts';
import type { IncomingNotice, MysqlActivities, NoticeEffect } from './contract.ts';
import { closeReplica } from './replicas.ts';
import { readRows } from './rows.ts';

/** Writes a notice down. Its effect is one update that only the first of any number of arrivals can make. */
export async function recordNotice(
  mysql: MysqlClient,
  notice: IncomingNotice,
): Promise<Awaited<ReturnType<MysqlActivities['recordSpotNotice']>>> {
  const [agent] = await mysql.read('SELECT client_id AS clientId FROM agents WHERE id = ?', [notice.agentId]);
  if (agent === undefined) return null;
  const clientId = String(agent['clientId']);
  const effect = await applyNotice(mysql, notice);
  await mysql.write(
    { system: 'mysql', verb: 'record-notice', target: notice.instanceId },
    `INSERT IGNORE INTO system_events (event_type, severity, client_id, agent_id, instance_id, message, event_key)
     VALUES (?, 'warning', ?, ?, ?, ?, ?)`,
    [
      `${notice.kind}_notice`,
      clientId,
      notice.agentId,
      notice.instanceId,
      `${notice.kind} notice from ${notice.source}: ${effect}`,
      keyOf(notice),
    ],
  );
  const rows = await readRows(mysql, { namespace: clientId, name: notice.agentId });
  return rows === null ? null : { effect, rows };
}

/** Forgets a notice, unless another one has taken its place. */
export async function clearNotice(
  mysql: MysqlClient,
  input: { readonly agentId: string; readonly instanceId: string; readonly notice: string },
): Promise<void> {
  await mysql.write(
    { system: 'mysql', verb: 'clear-notice', target: input.agentId },
    `UPDATE agents SET notice_status = 'none', notice_instance_id = NULL, notice_received_at = NULL, notice_deadline = NULL
      WHERE id = ? AND notice_instance_id = ? AND notice_status = ?`,
    [input.agentId, input.instanceId, input.notice],
  );
}

const keyOf = ({ instanceId, kind, atMs }: IncomingNotice): string => `notice:${instanceId}:${kind}:${atMs}`;

async function applyNotice(mysql: MysqlClient, notice: IncomingNotice): Promise<NoticeEffect> {
  if (notice.kind === 'termination')
    await mysql.write(
      { system: 'mysql', verb: 'mark-interrupted', target: notice.instanceId },
      'UPDATE instances SET interrupted_at = COALESCE(interrupted_at, ?) WHERE id = ? AND agent_id = ?',
      [new Date(notice.receivedAtMs), notice.instanceId, notice.agentId],
    );
  const [known] = await mysql.read(
    'SELECT instance_status AS status FROM instances WHERE id = ? AND agent_id = ?',
    [notice.instanceId, notice.agentId],
  );
  if (known?.['status'] !== 'running_primary') return applyToReplica(mysql, notice);
  // A rebalance recommendation gives way to a termination notice, and nothing gives way to a recommendation.
  const changed = await mysql.write(
    { system: 'mysql', verb: 'set-notice', target: notice.agentId },
    `UPDATE agents SET notice_status = ?, notice_instance_id = ?, notice_received_at = ?, notice_deadline = ?,
        generation = generation + 1
      WHERE id = ? AND NOT EXISTS (SELECT 1 FROM system_events WHERE event_key = ?)
        AND (notice_status = 'none' OR notice_instance_id <> ? OR (notice_status = 'rebalance' AND ? = 'termination'))`,
    [
      notice.kind,
      notice.instanceId,
      new Date(notice.receivedAtMs),
      notice.deadlineMs === null ? null : new Date(notice.deadlineMs),
      notice.agentId,
      keyOf(notice),
      notice.instanceId,
      notice.kind,
    ],
  );
  return changed > 0 ? 'new' : 'known';
}

/** A replica that AWS takes back is of no use any more; of any other instance the notice comes too late. */
async function applyToReplica(mysql: MysqlClient, notice: IncomingNotice): Promise<NoticeEffect> {
  const [replica] = await mysql.read(
    `SELECT id FROM replica_instances WHERE instance_id = ? AND agent_id = ? AND status IN ('launching', 'syncing', 'ready')`,
    [notice.instanceId, notice.agentId],
  );
  if (replica === undefined) return 'past';
  if (notice.kind === 'rebalance') return 'known';
  const error = 'AWS has announced to take it back';
  await closeReplica(mysql, { replica: String(replica['id']), to: 'failed', error });
  return 'replica';
}
