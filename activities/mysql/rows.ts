import { z } from 'zod';
import type { ResourceRef } from '../../workflows/shared/messages.ts';
import type { SpotRows } from '../../workflows/spot-agent/domain/observation.ts';
import type { MysqlClient } from './client.ts';

const ms = (column: string): string => `CAST(ROUND(UNIX_TIMESTAMP(${column}) * 1000) AS SIGNED)`;

/** One statement sees one committed instant, which several would not. */
const ROWS = `
SELECT a.id, a.client_id AS clientId, a.uid, a.generation, a.epoch, a.region, a.auto_switch_enabled AS autoSwitch,
  a.manual_replica_enabled AS manualReplica, a.auto_terminate_enabled AS autoTerminate,
  a.terminate_wait_seconds AS terminateWaitSeconds, a.retention_days AS retentionDays, a.launch_config AS launch,
  a.notice_status AS noticeKind, a.notice_instance_id AS noticeInstanceId, ${ms('a.notice_received_at')} AS noticeReceivedAtMs,
  ${ms('a.notice_deadline')} AS noticeDeadlineMs, a.switch_target AS switchTarget,
  ${ms('a.last_heartbeat_at')} AS lastHeartbeatMs, a.phase, a.carried_out AS carriedOut, ${ms('NOW(3)')} AS nowMs,
  (SELECT COUNT(*) FROM replica_instances r WHERE r.agent_id = a.id) AS replicasEver,
  (SELECT COALESCE(JSON_ARRAYAGG(${ms('i.promoted_at')}), '[]') FROM instances i
    WHERE i.agent_id = a.id AND i.promoted_at > NOW(3) - INTERVAL 1 HOUR) AS movesMs,
  (SELECT COALESCE(JSON_ARRAYAGG(JSON_OBJECT('id', i.id, 'status', i.instance_status, 'instanceType', i.instance_type,
      'az', i.az, 'market', i.market, 'createdAtMs', ${ms('i.created_at')}, 'retiredAtMs', ${ms('i.terminated_at')},
      'interruptedAtMs', ${ms('i.interrupted_at')})), '[]') FROM instances i
    WHERE i.agent_id = a.id
      AND (i.instance_status <> 'terminated' OR i.terminated_at > NOW(3) - INTERVAL 1 DAY)) AS instances,
  (SELECT COALESCE(JSON_ARRAYAGG(JSON_OBJECT('id', r.id, 'instanceId', r.instance_id, 'status', r.status,
      'instanceType', r.instance_type, 'az', r.az, 'market', r.market, 'emergency', r.emergency,
      'createdAtMs', ${ms('r.created_at')}, 'lastSyncMs', ${ms('r.last_sync_at')}, 'error', r.error)), '[]')
    FROM replica_instances r
    WHERE r.agent_id = a.id
      AND (r.status IN ('launching', 'syncing', 'ready') OR r.updated_at > NOW(3) - INTERVAL 1 DAY)) AS replicas
FROM agents a WHERE a.client_id = ? AND a.id = ?`;

const flag = z.union([z.boolean(), z.number()]).transform((value) => Boolean(value));
const market = z.enum(['spot', 'on-demand']);
/** MySQL gives JSON as values, MariaDB as text. */
const json = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value): unknown => (typeof value === 'string' ? JSON.parse(value) : value), schema);

const launch = z.object({
  imageId: z.string(),
  pools: z.array(z.object({ instanceType: z.string(), az: z.string(), subnetId: z.string().nullable() })),
  onDemand: z.boolean(),
  maxMovesPerHour: z.number(),
});
const instance = z.object({
  id: z.string(),
  status: z.enum([
    'launching',
    'running_primary',
    'running_replica',
    'promoting',
    'terminating',
    'zombie',
    'terminated',
  ]),
  instanceType: z.string(),
  az: z.string(),
  market,
  createdAtMs: z.number(),
  retiredAtMs: z.number().nullable(),
  interruptedAtMs: z.number().nullable(),
});
const replica = z.object({
  id: z.string(),
  instanceId: z.string().nullable(),
  status: z.enum(['launching', 'syncing', 'ready', 'promoted', 'failed', 'terminated']),
  instanceType: z.string(),
  az: z.string(),
  market,
  emergency: flag,
  createdAtMs: z.number(),
  lastSyncMs: z.number().nullable(),
  error: z.string().nullable(),
});
const row = z.object({
  id: z.string(),
  clientId: z.string(),
  uid: z.string(),
  generation: z.number(),
  epoch: z.number(),
  region: z.string(),
  autoSwitch: flag,
  manualReplica: flag,
  autoTerminate: flag,
  terminateWaitSeconds: z.number(),
  retentionDays: z.number(),
  launch: json(launch.nullable()),
  noticeKind: z.enum(['none', 'rebalance', 'termination']),
  noticeInstanceId: z.string().nullable(),
  noticeReceivedAtMs: z.number().nullable(),
  noticeDeadlineMs: z.number().nullable(),
  switchTarget: z.string().nullable(),
  lastHeartbeatMs: z.number().nullable(),
  phase: z.string().nullable(),
  carriedOut: z.number().nullable(),
  nowMs: z.number(),
  replicasEver: z.number(),
  movesMs: json(z.array(z.number())),
  instances: json(z.array(instance)),
  replicas: json(z.array(replica)),
});

/** Reads all that there is of an agent. */
export async function readRows(mysql: MysqlClient, ref: ResourceRef): Promise<SpotRows | null> {
  const [found] = await mysql.read(ROWS, [ref.namespace, ref.name]);
  if (found === undefined) return null;
  const {
    nowMs,
    instances,
    replicas,
    noticeKind,
    noticeInstanceId,
    noticeReceivedAtMs,
    noticeDeadlineMs,
    ...agent
  } = row.parse(found);
  const notice =
    noticeKind === 'none' || noticeInstanceId === null || noticeReceivedAtMs === null
      ? null
      : {
          kind: noticeKind,
          instanceId: noticeInstanceId,
          receivedAtMs: noticeReceivedAtMs,
          deadlineMs: noticeDeadlineMs,
        };
  return { nowMs, agent: { ...agent, notice }, instances: sorted(instances), replicas: sorted(replicas) };
}

/** The server gives them in any order, and a plan must not depend on it. */
const sorted = <T extends { readonly id: string }>(rows: readonly T[]): readonly T[] =>
  rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
