import { failure } from '../../workflows/shared/failures.ts';
import type { MysqlClient } from './client.ts';
import type { MysqlActivities } from './contract.ts';
import { clearNotice, recordNotice } from './notices.ts';
import { noPromotionMeasures, promoteMeasured, type PromotionMeasures } from './promote.ts';
import { readRegions, readRemembrance } from './remembrance.ts';
import { awaitReplica, closeReplica, linkReplica, recordReplica } from './replicas.ts';
import { readRows } from './rows.ts';

/** The activities of the database, over one client. */
export function createMysqlActivities(
  mysql: MysqlClient,
  measures: PromotionMeasures = noPromotionMeasures,
): MysqlActivities {
  return {
    readSpotRows: (ref) => readRows(mysql, ref),
    readSpotRegions: () => readRegions(mysql),
    readSpotRemembrance: (input) => readRemembrance(mysql, input),
    promoteSpotInstance: (promotion) => promoteMeasured(mysql, measures, promotion),
    recordSpotNotice: (notice) => recordNotice(mysql, notice),
    clearSpotNotice: (input) => clearNotice(mysql, input),
    recordSpotReplica: (replica) => recordReplica(mysql, replica),
    linkSpotReplica: (input) => linkReplica(mysql, input),
    closeSpotReplica: (input) => closeReplica(mysql, input),
    awaitSpotReplica: (input) => awaitReplica(mysql, input),
    closeSpotInstance: (input) => closeInstance(mysql, input),
    writeSpotStatus: (input) => writeStatus(mysql, input),
    recordSpotEvent: (input) => recordEvent(mysql, input),
  };
}

async function closeInstance(
  mysql: MysqlClient,
  { instanceId, event }: Parameters<MysqlActivities['closeSpotInstance']>[0],
): Promise<void> {
  const mutation = { system: 'mysql', verb: 'close-instance', target: instanceId };
  const closed = await mysql.write(
    mutation,
    `UPDATE instances SET instance_status = 'terminated', terminated_at = NOW(3), version = version + 1
      WHERE id = ? AND NOT is_primary AND instance_status <> 'terminated'`,
    [instanceId],
  );
  if (closed === 0) {
    const [row] = await mysql.read('SELECT is_primary AS isPrimary FROM instances WHERE id = ?', [
      instanceId,
    ]);
    if (row?.['isPrimary'] === 1)
      throw failure('NotPromotable', `${instanceId} is PRIMARY: its row stays open`);
  }
  await mysql.write(
    mutation,
    `UPDATE replica_instances SET status = 'terminated', terminated_at = NOW(3)
      WHERE instance_id = ? AND status IN ('launching', 'syncing', 'ready')`,
    [instanceId],
  );
  await mysql.write(
    mutation,
    `INSERT IGNORE INTO system_events (event_type, client_id, agent_id, instance_id, message, event_key)
     SELECT 'instance_terminated', client_id, agent_id, id, ?, CONCAT('terminated:', id) FROM instances WHERE id = ?`,
    [`${event}: EC2 has confirmed its end`, instanceId],
  );
}

async function writeStatus(
  mysql: MysqlClient,
  { agentId, uid, phase, message, carriedOut }: Parameters<MysqlActivities['writeSpotStatus']>[0],
): Promise<void> {
  const found = await mysql.write(
    { system: 'mysql', verb: 'write-status', target: agentId },
    'UPDATE agents SET phase = ?, phase_message = ?, carried_out = ? WHERE id = ? AND uid = ?',
    [phase, message, carriedOut, agentId, uid],
  );
  if (found === 0) throw failure('ResourceGone', `there is no agent ${agentId} with uid ${uid} any more`);
}

async function recordEvent(
  mysql: MysqlClient,
  event: Parameters<MysqlActivities['recordSpotEvent']>[0],
): Promise<void> {
  await mysql.write(
    { system: 'mysql', verb: 'record-event', target: event.agentId ?? 'the fleet' },
    `INSERT IGNORE INTO system_events (event_type, severity, client_id, agent_id, instance_id, message, event_key)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [event.type, event.severity, event.clientId, event.agentId, event.instanceId, event.message, event.key],
  );
}
