import type { z } from 'zod';
import { readAgent } from './agents.ts';
import type { Asked } from './endpoint.ts';
import { noSuchAgent, notPrimary } from './refusal.ts';
import type { reportBody } from './schemas.ts';

/** The specification's priority of what cannot wait. */
const CRITICAL = 100;
const SCHEDULED = 10;

const time = (value: unknown): string | null => (value instanceof Date ? value.toISOString() : null);
const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** What an instance is to do: it follows from its row alone, so that nothing can be lost or done twice. */
export async function readCommands(
  { store, clientId, agentId }: Asked<unknown, unknown>,
  instanceId: string,
) {
  const { epoch, primary } = await readAgent(store, clientId, agentId);
  if (primary === instanceId)
    return { commands: [{ type: 'serve' as const, priority: CRITICAL, epoch, reason: 'you are primary' }] };
  const [row] = await store.read(
    'SELECT instance_status AS status FROM instances WHERE id = ? AND agent_id = ?',
    instanceId,
    agentId,
  );
  const standsBy = row?.['status'] === 'running_replica' || row?.['status'] === 'launching';
  return {
    commands: [
      standsBy
        ? { type: 'stand-by' as const, priority: SCHEDULED, epoch, reason: 'you are a replica' }
        : { type: 'stop-serving' as const, priority: CRITICAL, epoch, reason: 'you are no longer primary' },
    ],
  };
}

/** The notice that stands, and what is being prepared. */
export async function readEmergency({ store, clientId, agentId }: Asked<unknown, unknown>) {
  const { epoch, primary } = await readAgent(store, clientId, agentId);
  const [row] = await store.read(
    `SELECT phase, notice_status AS status, notice_instance_id AS instanceId, notice_received_at AS receivedAt,
       notice_deadline AS deadline FROM agents WHERE id = ?`,
    agentId,
  );
  if (row === undefined) throw noSuchAgent();
  const replicas = await store.read(
    `SELECT id, instance_id AS instanceId, status FROM replica_instances
      WHERE agent_id = ? AND status IN ('launching', 'syncing', 'ready') ORDER BY created_at, id`,
    agentId,
  );
  return {
    phase: text(row['phase']),
    notice: {
      status: String(row['status']),
      instance_id: text(row['instanceId']),
      received_at: time(row['receivedAt']),
      deadline: time(row['deadline']),
    },
    primary_instance_id: primary,
    epoch,
    replicas: replicas.map((one) => ({
      id: String(one['id']),
      instance_id: text(one['instanceId']),
      status: String(one['status']),
    })),
  };
}

/** Writes a report into the audit trail; one of an instance whose epoch is over is refused. */
export async function recordReport(
  { store, clientId, agentId }: Asked<unknown, unknown>,
  type: 'switch_report' | 'cleanup_report',
  body: z.infer<typeof reportBody>,
) {
  const { epoch } = await readAgent(store, clientId, agentId);
  if (body.epoch !== null && body.epoch !== epoch) throw notPrimary(epoch);
  const [row] = await store.read(
    'SELECT 1 FROM instances WHERE id = ? AND agent_id = ?',
    body.instance_id,
    agentId,
  );
  if (row === undefined) throw noSuchAgent();
  await store.write(
    `INSERT INTO system_events (event_type, severity, client_id, agent_id, instance_id, message) VALUES (?, ?, ?, ?, ?, ?)`,
    type,
    body.success ? 'info' : 'warning',
    clientId,
    agentId,
    body.instance_id,
    body.message,
  );
  return { message: 'written down' };
}
