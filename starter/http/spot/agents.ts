import {
  refuseConfiguration,
  type LaunchConfig,
  type SpotConfiguration,
} from '../../../workflows/spot-agent/contract.ts';
import { noSuchAgent, Refusal } from './refusal.ts';
import type { LaunchWish } from './schemas.ts';
import type { Row, Session } from './store.ts';

/** An agent's row, as the API speaks of it. */
export interface AgentRow {
  readonly id: string;
  readonly clientId: string;
  readonly uid: string;
  readonly epoch: number;
  readonly generation: number;
  readonly primary: string | null;
  readonly config: SpotConfiguration;
}

const AGENT = `SELECT a.id, a.client_id AS clientId, a.uid, a.epoch, a.generation, a.auto_switch_enabled AS autoSwitch,
  a.manual_replica_enabled AS manualReplica, a.auto_terminate_enabled AS autoTerminate,
  a.terminate_wait_seconds AS terminateWaitSeconds, a.launch_config AS launch,
  (SELECT i.id FROM instances i WHERE i.agent_id = a.id AND i.is_primary) AS primaryId
  FROM agents a`;

/** Reads an agent of this client; one of another client does not exist. */
export async function readAgent(
  session: Session,
  clientId: string,
  id: string,
  lock: '' | 'FOR UPDATE' = '',
): Promise<AgentRow> {
  const [row] = await session.read(`${AGENT} WHERE a.id = ? AND a.client_id = ? ${lock}`, id, clientId);
  if (row === undefined) throw noSuchAgent();
  return agentOf(row);
}

/** The agent that an instance is or was for, whoever its client is; null when there is none. */
export async function findOwner(session: Session, instanceId: string): Promise<AgentRow | null> {
  const [row] = await session.read(
    `${AGENT} WHERE a.id IN (SELECT agent_id FROM instances WHERE id = ?
       UNION SELECT agent_id FROM replica_instances WHERE instance_id = ?)`,
    instanceId,
    instanceId,
  );
  return row === undefined ? null : agentOf(row);
}

function agentOf(row: Row): AgentRow {
  const launch: unknown = typeof row['launch'] === 'string' ? JSON.parse(row['launch']) : row['launch'];
  return {
    id: String(row['id']),
    clientId: String(row['clientId']),
    uid: String(row['uid']),
    epoch: Number(row['epoch']),
    generation: Number(row['generation']),
    primary: typeof row['primaryId'] === 'string' ? row['primaryId'] : null,
    config: {
      autoSwitch: Boolean(row['autoSwitch']),
      manualReplica: Boolean(row['manualReplica']),
      autoTerminate: Boolean(row['autoTerminate']),
      terminateWaitSeconds: Number(row['terminateWaitSeconds']),
      // Only this API writes it, from what it has parsed.
      launch: launch as LaunchConfig | null,
    },
  };
}

/** The configuration as clients read it. */
export const showConfig = ({ config }: AgentRow) => ({
  enabled: true,
  auto_terminate: config.autoTerminate,
  terminate_wait_seconds: config.terminateWaitSeconds,
  auto_switch: config.autoSwitch,
  manual_replica: config.manualReplica,
  launch:
    config.launch === null
      ? null
      : {
          image_id: config.launch.imageId,
          pools: config.launch.pools.map((pool) => ({
            instance_type: pool.instanceType,
            az: pool.az,
            subnet_id: pool.subnetId,
          })),
          on_demand: config.launch.onDemand,
          max_moves_per_hour: config.launch.maxMovesPerHour,
        },
});

/** Changes what is named, and leaves the rest; refuses what cannot be, and changes nothing then. */
export async function changeConfig(
  session: Session,
  agent: AgentRow,
  wish: {
    readonly auto_terminate?: boolean | undefined;
    readonly terminate_wait_seconds?: number | undefined;
    readonly auto_switch?: boolean | undefined;
    readonly manual_replica?: boolean | undefined;
    readonly launch?: LaunchWish | null | undefined;
  },
): Promise<void> {
  const { config } = agent;
  const next: SpotConfiguration = {
    autoTerminate: wish.auto_terminate ?? config.autoTerminate,
    terminateWaitSeconds: wish.terminate_wait_seconds ?? config.terminateWaitSeconds,
    autoSwitch: wish.auto_switch ?? config.autoSwitch,
    manualReplica: wish.manual_replica ?? config.manualReplica,
    launch: wish.launch === undefined ? config.launch : wish.launch === null ? null : launchOf(wish.launch),
  };
  const refusal = refuseConfiguration(next);
  if (refusal !== null) throw new Refusal(400, refusal.code, refusal.message);
  await session.write(
    `UPDATE agents SET auto_terminate_enabled = ?, terminate_wait_seconds = ?, auto_switch_enabled = ?,
       manual_replica_enabled = ?, launch_config = ?, generation = generation + 1 WHERE id = ?`,
    next.autoTerminate,
    next.terminateWaitSeconds,
    next.autoSwitch,
    next.manualReplica,
    next.launch === null ? null : JSON.stringify(next.launch),
    agent.id,
  );
}

const launchOf = (wish: LaunchWish): LaunchConfig => ({
  imageId: wish.image_id,
  pools: wish.pools.map((pool) => ({
    instanceType: pool.instance_type,
    az: pool.az,
    subnetId: pool.subnet_id,
  })),
  onDemand: wish.on_demand,
  maxMovesPerHour: wish.max_moves_per_hour,
});
