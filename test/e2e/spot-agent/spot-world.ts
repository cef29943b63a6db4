import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection, WithStartWorkflowOperation } from '@temporalio/client';
import type { IncomingNotice } from '../../../activities/mysql/contract.ts';
import { noMutationHook, type MutationHook } from '../../../activities/mutations.ts';
import { useStack, type StackHandle } from '../../../deploy/local/testing.ts';
import { TASK_QUEUE, type EntityStatus } from '../../../workflows/shared/messages.ts';
import type { Tuning } from '../../../workflows/shared/operation.ts';
import {
  noticeUpdate,
  spotAgentId,
  WORKFLOW,
  type NoticeAnswer,
} from '../../../workflows/spot-agent/contract.ts';
import type { CloudInstance } from '../../../workflows/spot-agent/domain/observation.ts';
import { openDatabaseStage, type DatabaseStage } from '../../conformance/spot-agent/database-stage.ts';
import { openEc2Stage, REGION, type Ec2Stage } from '../../conformance/spot-agent/ec2-stage.ts';
import { startSpotWorker } from './spot-worker.ts';

const PATIENCE_MS = 120_000;

/** An agent that serves from a real row and an emulated instance. */
export interface WorldAgent {
  readonly id: string;
  readonly primary: string;
}

interface Places {
  readonly database: DatabaseStage;
  readonly ec2: Ec2Stage;
  readonly client: Client;
  close(): Promise<void>;
}

/** Everything that spot agents need, with a worker that looks after them. */
export class SpotWorld {
  readonly database: DatabaseStage;
  readonly ec2: Ec2Stage;
  readonly client: Client;
  readonly #tuning: Tuning | undefined;
  readonly #close: () => Promise<void>;

  private constructor({ database, ec2, client, close }: Places, tuning?: Tuning) {
    this.database = database;
    this.ec2 = ec2;
    this.client = client;
    this.#tuning = tuning;
    this.#close = close;
  }

  static async open(hook: MutationHook = noMutationHook): Promise<SpotWorld> {
    const stack = await useStack();
    const temporal = {
      address: stack.temporalAddress,
      namespace: await stack.createTemporalNamespace('spot'),
    };
    const places = await openPlaces(stack, temporal.namespace);
    const { database, ec2, close } = places;
    const stopWorker = await startSpotWorker({ temporal, mysqlUrl: database.url, ec2Url: ec2.url, hook });
    return new SpotWorld({
      ...places,
      async close() {
        await stopWorker();
        await close();
      },
    });
  }

  /** On a stack, for a worker that somebody else starts, and with workflows that are tuned. */
  static async on(stack: StackHandle, namespace: string, tuning?: Tuning): Promise<SpotWorld> {
    return new SpotWorld(await openPlaces(stack, namespace), tuning);
  }

  close(): Promise<void> {
    return this.#close();
  }

  /** An agent with a PRIMARY that runs and a configuration to launch by; nobody looks after it yet. */
  async addAgent(change: Readonly<Record<string, string | number>> = {}): Promise<WorldAgent> {
    const id = await this.database.addAgent(0);
    const launch = this.ec2.launchOf(id, { az: 'us-east-1a' });
    const { instanceId } = await this.ec2.activities.launchEc2Instance(launch);
    await this.database.run('UPDATE instances SET id = ? WHERE agent_id = ?', instanceId, id);
    const config = {
      imageId: this.ec2.imageId,
      pools: ['us-east-1b', 'us-east-1c'].map((az) => ({ instanceType: 'm5.large', az, subnetId: null })),
      onDemand: true,
      maxMovesPerHour: 10,
    };
    const columns = {
      instance_id: instanceId,
      region: REGION,
      launch_config: JSON.stringify(config),
      ...change,
    };
    for (const [column, value] of Object.entries(columns))
      await this.database.run(`UPDATE agents SET ${column} = ? WHERE id = ?`, value, id);
    return { id, primary: instanceId };
  }

  /** A replica that runs and has just said that it is ready. */
  async addReadyReplica(agent: string): Promise<string> {
    const launch = this.ec2.launchOf(agent, { az: 'us-east-1b' });
    const { instanceId } = await this.ec2.activities.launchEc2Instance(launch);
    await this.database.run(
      `INSERT INTO replica_instances (id, client_id, agent_id, instance_id, instance_type, region, az, status, last_sync_at)
       VALUES (?, 'acme', ?, ?, 'm5.large', ?, 'us-east-1b', 'ready', UTC_TIMESTAMP(3))`,
      launch.replica,
      agent,
      instanceId,
      REGION,
    );
    await this.database.run(
      `INSERT INTO instances (id, client_id, agent_id, instance_type, region, az, instance_status)
       VALUES (?, 'acme', ?, 'm5.large', ?, 'us-east-1b', 'running_replica')`,
      instanceId,
      agent,
      REGION,
    );
    return instanceId;
  }

  /** What the agent on a replica says of itself; every replica of an agent is meant. */
  async reportReady(agent: string): Promise<void> {
    await this.database.run(
      `UPDATE replica_instances SET status = 'ready', last_sync_at = UTC_TIMESTAMP(3)
        WHERE agent_id = ? AND instance_id IS NOT NULL AND status IN ('launching', 'syncing', 'ready')`,
      agent,
    );
  }

  /** As the agents on replicas do a second after their launch; says whether one has become ready by it. */
  async reportBooted(agent: string): Promise<boolean> {
    const booted = `agent_id = ? AND instance_id IN (SELECT id FROM instances WHERE agent_id = ? AND
      COALESCE(launched_at, created_at) < NOW(3) - INTERVAL 1 SECOND)`;
    await this.database.run(
      `UPDATE replica_instances SET last_sync_at = UTC_TIMESTAMP(3) WHERE status = 'ready' AND ${booted}`,
      agent,
      agent,
    );
    const booting = await this.database.rows(
      `SELECT instance_id AS id FROM replica_instances WHERE status IN ('launching', 'syncing') AND ${booted}`,
      agent,
      agent,
    );
    for (const { id } of booting) {
      await this.database.run(
        `UPDATE replica_instances SET status = 'ready', last_sync_at = UTC_TIMESTAMP(3)
          WHERE instance_id = ? AND status IN ('launching', 'syncing')`,
        String(id),
      );
      await this.database.run(
        "UPDATE instances SET instance_status = 'running_replica' WHERE id = ? AND instance_status = 'launching'",
        String(id),
      );
    }
    return booting.length > 0;
  }

  /** An instance that runs although its row says terminated; gives its id. */
  async addLeak(agent: string): Promise<string> {
    const { instanceId } = await this.ec2.activities.launchEc2Instance(this.ec2.launchOf(agent));
    await this.database.run(
      `INSERT INTO instances (id, client_id, agent_id, instance_status, terminated_at)
       VALUES (?, 'acme', ?, 'terminated', UTC_TIMESTAMP(3))`,
      instanceId,
      agent,
    );
    return instanceId;
  }

  /** Tells of a notice as the HTTP API does, and starts the entity if need be. */
  async notice(agent: WorldAgent, change: Partial<IncomingNotice> = {}): Promise<NoticeAnswer> {
    const nowMs = Date.now();
    const notice: IncomingNotice = {
      agentId: agent.id,
      kind: 'termination',
      instanceId: agent.primary,
      atMs: nowMs,
      receivedAtMs: nowMs,
      deadlineMs: change.kind === 'rebalance' ? null : nowMs + 120_000,
      source: 'test',
      ...change,
    };
    return this.client.workflow.executeUpdateWithStart(noticeUpdate, {
      args: [notice],
      startWorkflowOperation: this.#start(agent.id),
    });
  }

  #start(agent: string): WithStartWorkflowOperation<(input: object) => Promise<void>> {
    return new WithStartWorkflowOperation(WORKFLOW, {
      ...this.#startOptions(agent),
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
  }

  #startOptions(agent: string) {
    const ref = { namespace: 'acme', name: agent };
    const tuning = this.#tuning;
    return {
      workflowId: spotAgentId(ref),
      taskQueue: TASK_QUEUE,
      args: [{ ref, ...(tuning === undefined ? {} : { tuning }) }] as [object],
      ...(tuning?.taskTimeoutMs === undefined ? {} : { workflowTaskTimeout: tuning.taskTimeoutMs }),
    };
  }

  /** Wakes the entity of an agent, and starts it if need be. */
  async wake(agent: string): Promise<void> {
    await this.client.workflow.signalWithStart(WORKFLOW, {
      ...this.#startOptions(agent),
      signal: 'hint',
      signalArgs: [{}],
    });
  }

  status(agent: string): Promise<EntityStatus> {
    return this.client.workflow
      .getHandle(spotAgentId({ namespace: 'acme', name: agent }))
      .query<EntityStatus>('status');
  }

  /** The statuses of the agent's instances, by their ids. */
  async statuses(agent: string): Promise<Readonly<Record<string, string>>> {
    const rows = await this.database.rows(
      'SELECT id, instance_status AS status FROM instances WHERE agent_id = ?',
      agent,
    );
    return Object.fromEntries(rows.map((row) => [String(row['id']), String(row['status'])]));
  }

  async events(agent: string): Promise<readonly string[]> {
    const rows = await this.database.rows(
      'SELECT event_type AS type FROM system_events WHERE agent_id = ? ORDER BY id',
      agent,
    );
    return rows.map((row) => String(row['type']));
  }

  /** All instances that are tagged as the agent's, with those that have ended. */
  async launchesOf(agent: string): Promise<readonly CloudInstance[]> {
    const asked = { region: REGION, agentId: agent, instanceIds: [], pools: [] };
    const seen = await this.ec2.activities.observeEc2Instances(asked);
    if (seen === null) throw new Error('EC2 does not answer');
    return seen.instances;
  }

  /** What EC2 says of them, by their ids. */
  async cloud(agent: string): Promise<Readonly<Record<string, string>>> {
    return Object.fromEntries((await this.launchesOf(agent)).map((one) => [one.id, one.state]));
  }

  /** Waits until something holds, and fails with these words when it never does. */
  async until(what: string, agent: string, holds: () => Promise<boolean>): Promise<void> {
    const endMs = Date.now() + PATIENCE_MS;
    while (!(await holds())) {
      if (Date.now() > endMs) {
        const seen = {
          rows: await this.statuses(agent),
          cloud: await this.cloud(agent),
          status: await this.status(agent).catch(String),
        };
        throw new Error(`it never came to pass that ${what}: ${JSON.stringify(seen, undefined, 1)}`);
      }
      await delay(100);
    }
  }
}

async function openPlaces(stack: StackHandle, namespace: string): Promise<Places> {
  const [database, ec2] = [await openDatabaseStage(8, stack), await openEc2Stage(noMutationHook, stack)];
  const connection = await Connection.connect({ address: stack.temporalAddress });
  return {
    database,
    ec2,
    client: new Client({ connection, namespace }),
    async close() {
      await connection.close();
      ec2.close();
      await database[Symbol.asyncDispose]();
    },
  };
}
