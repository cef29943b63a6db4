import { createHash } from 'node:crypto';
import {
  judgeRegistration,
  type InstanceStatus,
  type Registration,
  type ReplicaStatus,
} from '../../../workflows/spot-agent/contract.ts';
import type { Registering } from './schemas.ts';
import { isDuplicate, type Session, type Store } from './store.ts';

/** After one that lost, the rows of the first are there to be read. */
const ATTEMPTS = 3;

/** The id of an agent: the same for the same client and name, so that a repetition finds it. */
export const agentIdOf = (clientId: string, logicalId: string): string =>
  `agt-${createHash('sha256').update(`${clientId}\n${logicalId}`).digest('hex').slice(0, 20)}`;

interface Registered {
  readonly agentId: string;
  readonly judged: Registration;
}

/** Registers an instance. Of several that come at once one is first, and the others are judged by what it wrote. */
export async function register(store: Store, clientId: string, body: Registering): Promise<Registered> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await store.transaction((session) => judge(session, clientId, body));
    } catch (error) {
      if (!isDuplicate(error) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Judges a registration by the rows, within a transaction, and writes what it makes new. */
async function judge(session: Session, clientId: string, body: Registering): Promise<Registered> {
  const agentId = agentIdOf(clientId, body.logical_agent_id);
  const [agent] = await session.read('SELECT id, epoch FROM agents WHERE id = ? FOR UPDATE', agentId);
  const [instance] = await session.read(
    'SELECT agent_id AS agentId, instance_status AS status FROM instances WHERE id = ? FOR UPDATE',
    body.instance_id,
  );
  const [replica] = await session.read(
    'SELECT agent_id AS agentId, status FROM replica_instances WHERE instance_id = ?',
    body.instance_id,
  );
  const [primary] = await session.read('SELECT id FROM instances WHERE agent_id = ? AND is_primary', agentId);
  const judged = judgeRegistration(
    { clientId, instanceId: body.instance_id, isPrimary: body.is_primary, epoch: body.epoch },
    {
      agent: agent === undefined ? null : { id: agentId, clientId, epoch: Number(agent['epoch']) },
      instance:
        instance === undefined
          ? null
          : { agentId: String(instance['agentId']), status: String(instance['status']) as InstanceStatus },
      replica:
        replica === undefined
          ? null
          : { agentId: String(replica['agentId']), status: String(replica['status']) as ReplicaStatus },
      primary: primary === undefined ? null : String(primary['id']),
    },
  );
  if (judged.is === 'new-primary') await addPrimary(session, clientId, agentId, body);
  if (judged.is === 'same-primary')
    await session.write(
      "UPDATE agents SET status = 'online', last_heartbeat_at = NOW(3) WHERE id = ?",
      agentId,
    );
  if (judged.is === 'replica')
    await session.write(
      "UPDATE replica_instances SET status = 'syncing' WHERE instance_id = ? AND status = 'launching'",
      body.instance_id,
    );
  return { agentId, judged };
}

/** Makes the instance PRIMARY; where another one was before it, it must not share that one's epoch. */
async function addPrimary(
  session: Session,
  clientId: string,
  agentId: string,
  body: Registering,
): Promise<void> {
  await session.write(
    `INSERT INTO agents (id, client_id, logical_agent_id, instance_id, region, status, last_heartbeat_at)
     VALUES (?, ?, ?, ?, ?, 'online', NOW(3))
     ON DUPLICATE KEY UPDATE instance_id = VALUES(instance_id), region = VALUES(region), status = 'online',
       last_heartbeat_at = NOW(3), generation = generation + 1, epoch = epoch + 1`,
    agentId,
    clientId,
    body.logical_agent_id,
    body.instance_id,
    body.region,
  );
  await session.write(
    `INSERT INTO instances (id, client_id, agent_id, instance_type, region, az, is_primary, instance_status, epoch)
     SELECT ?, client_id, id, ?, ?, ?, TRUE, 'running_primary', epoch FROM agents WHERE id = ?`,
    body.instance_id,
    body.instance_type,
    body.region,
    body.az,
    agentId,
  );
  await session.write(
    `INSERT INTO system_events (event_type, client_id, agent_id, instance_id, message) VALUES ('agent_registered', ?, ?, ?, ?)`,
    clientId,
    agentId,
    body.instance_id,
    'registered as PRIMARY',
  );
}
