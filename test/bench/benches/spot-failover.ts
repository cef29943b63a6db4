import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { createPool, type Pool } from 'mysql2/promise';
import type { IncomingNotice } from '../../../activities/mysql/contract.ts';
import { migrateDatabase } from '../../../starter/database/migrations.ts';
import { TASK_QUEUE } from '../../../workflows/shared/messages.ts';
import { noticeUpdate, spotAgentId, WORKFLOW } from '../../../workflows/spot-agent/contract.ts';
import { startStackFor } from '../../clean-end.ts';
import { startSpotWorker } from '../../e2e/spot-agent/spot-worker.ts';
import type { Bench } from '../bench.ts';
import { quantile, round } from '../figures.ts';

/** How often the common termination handler asks for notices. */
const POLLING_MS = 2_000;
const FLOOD = 200;
/** How many of each make one round: their 99 % are what is compared. */
const BATCH = 50;
const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'bench', AWS_SECRET_ACCESS_KEY: 'bench' };

interface Place {
  readonly client: Client;
  readonly pool: Pool;
}

/** A termination notice to its committed promotion, over what it cannot do without. */
export const spotFailover: Bench = {
  name: 'spot-failover',
  about: `The p99 of ${BATCH} termination notices with a ready replica, from the update to its answer after the committed promotion, over the p99 of as many bare stored procedure calls plus one bare Temporal update each on the same server.`,
  goal: 4,
  rounds: 7,
  unit: 'milliseconds at p99',
  async prepare(afterwards, interrupted) {
    Object.assign(process.env, CREDENTIALS);
    const stack = await startStackFor(afterwards, {
      onlyParts: ['temporal', 'mariadb', 'ec2'],
      signal: interrupted,
    });
    const mysqlUrl = `${stack.addresses('mariadb')['sql'] ?? ''}/bench`;
    await migrateDatabase(mysqlUrl);
    const temporal = {
      address: stack.temporalAddress,
      namespace: await stack.createTemporalNamespace('bench'),
    };
    const stop = await startSpotWorker({ temporal, mysqlUrl, ec2Url: stack.addresses('ec2')['api'] ?? '' });
    afterwards.defer(stop);
    const connection = await Connection.connect({ address: temporal.address });
    afterwards.defer(() => connection.close());
    const pool = createPool({ uri: mysqlUrl, connectionLimit: 20 });
    afterwards.defer(() => pool.end());
    const place: Place = { client: new Client({ connection, namespace: temporal.namespace }), pool };
    for (let warm = 0; warm < 3; warm += 1) await failOver(place, await addServedAgent(place));
    const all: number[] = [];
    return {
      ours: async () => {
        const times = await measure(place, failOver);
        all.push(...times);
        return quantile(times, 0.99);
      },
      floor: async () => quantile(await measure(place, bareUpdate), 0.99),
      verdict() {
        const p99 = quantile(all, 0.99);
        const says = `${all.length} notices: median ${round(quantile(all, 0.5), 1)} ms, p99 ${round(p99, 1)} ms, below the ${POLLING_MS} ms of a polling handler`;
        return { ok: p99 < POLLING_MS, says };
      },
      beside: () => flood(place),
    };
  },
};

/** One batch, one after the other; the agents are made between the measurements. */
async function measure(
  place: Place,
  once: (place: Place, agent: string) => Promise<number>,
): Promise<readonly number[]> {
  const times: number[] = [];
  for (let at = 0; at < BATCH; at += 1) times.push(await once(place, await addServedAgent(place)));
  return times;
}

async function flood(place: Place): Promise<readonly (readonly [string, string])[]> {
  const agents: string[] = [];
  for (let at = 0; at < FLOOD; at += 1) agents.push(await addServedAgent(place));
  const times = await Promise.all(agents.map((agent) => failOver(place, agent)));
  const p = (part: number): string => `${round(quantile(times, part), 0)} ms`;
  return [
    [
      `${FLOOD} agents at once`,
      `all promoted; median ${p(0.5)}, p99 ${p(0.99)}, worst ${p(1)} (deadline 120 000 ms)`,
    ],
  ];
}

/** An agent whose workflow rests, with a PRIMARY and a ready replica; EC2 is not asked, so that both are only rows. */
async function addServedAgent(place: Place): Promise<string> {
  const agent = `agent-${randomUUID().slice(0, 8)}`;
  await place.pool.query('INSERT INTO agents (id, client_id, logical_agent_id) VALUES (?, ?, ?)', [
    agent,
    'bench',
    agent,
  ]);
  const add = (id: string, primary: boolean): Promise<unknown> =>
    place.pool.query(
      'INSERT INTO instances (id, client_id, agent_id, is_primary, instance_status) VALUES (?, ?, ?, ?, ?)',
      [id, 'bench', agent, primary, primary ? 'running_primary' : 'running_replica'],
    );
  await add(`${agent}-p`, true);
  await add(`${agent}-r`, false);
  await place.pool.query(
    `INSERT INTO replica_instances (id, client_id, agent_id, instance_id, status, last_sync_at)
     VALUES (?, 'bench', ?, ?, 'ready', UTC_TIMESTAMP(3))`,
    [`${agent}-rep`, agent, `${agent}-r`],
  );
  const ref = { namespace: 'bench', name: agent };
  const handle = await place.client.workflow.start(WORKFLOW, {
    workflowId: spotAgentId(ref),
    taskQueue: TASK_QUEUE,
    args: [{ ref }],
  });
  // The query is answered once its first task is done.
  await handle.query('status');
  return agent;
}

async function failOver({ client, pool }: Place, agent: string): Promise<number> {
  const handle = client.workflow.getHandle(spotAgentId({ namespace: 'bench', name: agent }));
  const nowMs = Date.now();
  const notice: IncomingNotice = {
    agentId: agent,
    kind: 'termination',
    instanceId: `${agent}-p`,
    atMs: nowMs,
    receivedAtMs: nowMs,
    deadlineMs: nowMs + 120_000,
    source: 'bench',
  };
  const startedAtMs = performance.now();
  const { action } = await handle.executeUpdate(noticeUpdate, { args: [notice] });
  const tookMs = performance.now() - startedAtMs;
  if (action !== 'promoted') throw new Error(`${agent} was not promoted: ${action}`);
  await handle.terminate('measured');
  await pool.query('DELETE FROM agents WHERE id = ?', [agent]);
  return tookMs;
}

/** The procedure by itself, and an update that changes nothing outside its workflow. */
async function bareUpdate({ client, pool }: Place, agent: string): Promise<number> {
  const handle = client.workflow.getHandle(spotAgentId({ namespace: 'bench', name: agent }));
  const startedAtMs = performance.now();
  await pool.query('CALL promote_instance_to_primary(?, ?, 0)', [`${agent}-r`, agent]);
  await handle.executeUpdate('pause', { args: [{ reason: 'a bare update' }] });
  const tookMs = performance.now() - startedAtMs;
  await handle.terminate('measured');
  await pool.query('DELETE FROM agents WHERE id = ?', [agent]);
  return tookMs;
}
