import type { AgentRow } from './agents.ts';
import type { Heartbeat } from './schemas.ts';
import type { Session } from './store.ts';

/** What a heartbeat has changed, and what its sender is to know. */
export interface HeartbeatOutcome {
  readonly primary: boolean;
  readonly message: string;
  /** Whether a replica has become ready by it, which the entity must hear of. */
  readonly becameReady: boolean;
}

const NO_LONGER = 'you are no longer primary';

/** Writes a heartbeat down. Only the PRIMARY of the current epoch keeps the agent alive; a replica speaks for itself. */
export async function takeHeartbeat(
  session: Session,
  agent: AgentRow,
  body: Heartbeat,
): Promise<HeartbeatOutcome> {
  if (agent.primary === body.instance_id) return takeFromPrimary(session, agent, body);
  if (body.replica !== null) {
    const becameReady = await takeFromReplica(session, agent, body);
    if (becameReady !== null) return { primary: false, message: 'you stand by', becameReady };
  }
  return { primary: false, message: NO_LONGER, becameReady: false };
}

async function takeFromPrimary(
  session: Session,
  agent: AgentRow,
  body: Heartbeat,
): Promise<HeartbeatOutcome> {
  // A PRIMARY that does not know its epoch yet learns it from the answer; one that has another is not this one.
  if (body.epoch !== null && body.epoch !== agent.epoch)
    return { primary: false, message: NO_LONGER, becameReady: false };
  await session.write(
    "UPDATE agents SET last_heartbeat_at = NOW(3) WHERE id = ? AND epoch = ? AND status = 'online'",
    agent.id,
    agent.epoch,
  );
  return { primary: true, message: 'you are primary', becameReady: false };
}

/** Null when the instance is no open replica of the agent. */
async function takeFromReplica(
  session: Session,
  agent: AgentRow,
  { instance_id, replica }: Heartbeat,
): Promise<boolean | null> {
  if (replica === null) return null;
  const seconds = replica.seconds_since_sync;
  const ready = replica.state === 'ready' && replica.error === null && seconds !== null && seconds < 60;
  const [before] = await session.read(
    `SELECT status FROM replica_instances WHERE instance_id = ? AND agent_id = ? AND status IN ('launching', 'syncing', 'ready') FOR UPDATE`,
    instance_id,
    agent.id,
  );
  if (before === undefined) return null;
  await session.write(
    `UPDATE replica_instances SET status = ?, error = ?, ready_at = IF(?, COALESCE(ready_at, NOW(3)), ready_at),
       last_sync_at = IF(? IS NULL, last_sync_at, NOW(3) - INTERVAL ROUND(? * 1000000) MICROSECOND)
     WHERE instance_id = ? AND agent_id = ?`,
    ready ? 'ready' : 'syncing',
    replica.error,
    ready,
    seconds,
    seconds ?? 0,
    instance_id,
    agent.id,
  );
  if (!ready) return false;
  await session.write(
    "UPDATE instances SET instance_status = 'running_replica' WHERE id = ? AND agent_id = ? AND instance_status = 'launching'",
    instance_id,
    agent.id,
  );
  if (before['status'] === 'ready') return false;
  await session.write('UPDATE agents SET generation = generation + 1 WHERE id = ?', agent.id);
  return true;
}
