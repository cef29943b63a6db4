import { setTimeout as delay } from 'node:timers/promises';
import type { IncomingNotice } from '../../../activities/mysql/contract.ts';
import { WorkflowNotFoundError } from '@temporalio/client';
import { spotAgentId } from '../../../workflows/spot-agent/contract.ts';
import { REGION } from '../../conformance/spot-agent/ec2-stage.ts';
import type { SpotWorld, WorldAgent } from '../../e2e/spot-agent/spot-world.ts';
import { entityIsAt } from '../entity-rest.ts';

const EVERY_MS = 150;

/** How an agent is to stand when all is over. */
export interface Expected {
  /** Whether another instance than the first one is PRIMARY. */
  readonly moved: boolean;
  /** What became of every other instance that it ever had. */
  readonly others: 'zombie' | 'terminated';
}

interface CastAgent extends WorldAgent, Expected {}

/** The agents of one run, and all that goes on around them, whoever dies: instances boot and report, AWS acts. */
export class SpotRun {
  readonly world: SpotWorld;
  readonly agents: CastAgent[] = [];
  readonly #ended = new AbortController();
  readonly #under: Promise<void>[] = [];
  readonly #unanswered = new Set<string>();
  /** What failed last of all that goes on, or null. */
  #trouble: string | null = null;

  constructor(world: SpotWorld) {
    this.world = world;
  }

  async add(
    expected: Expected,
    columns: Readonly<Record<string, string | number>> = {},
  ): Promise<WorldAgent> {
    const agent = await this.world.addAgent(columns);
    this.agents.push({ ...agent, ...expected });
    this.#goOn(() => this.#reportReplicas(agent.id));
    return agent;
  }

  /** Tells of a notice as the agent on an instance does: again and again, until it is answered. */
  tell(agent: WorldAgent, notice: Partial<IncomingNotice>): void {
    const atMs = Date.now();
    this.#unanswered.add(agent.id);
    this.#goOn(async () => {
      if (!this.#unanswered.has(agent.id)) return;
      await this.world.notice(agent, { atMs, ...notice });
      this.#unanswered.delete(agent.id);
    });
  }

  /** A person wants the agent's replica to be PRIMARY. */
  async askForSwitch(agent: string): Promise<void> {
    await this.world.database.run(
      `UPDATE agents SET generation = generation + 1, switch_target =
         (SELECT instance_id FROM replica_instances WHERE agent_id = agents.id) WHERE id = ?`,
      agent,
    );
    await this.world.wake(agent);
  }

  /** Does something once, as soon as it may be done, and wakes the agent's workflow as an event of it would. */
  once(agent: WorldAgent, mayBe: () => Promise<boolean>, act: () => Promise<void>): void {
    let done = false;
    this.#goOn(async () => {
      if (done || !(await mayBe())) return;
      await act();
      await this.world.wake(agent.id);
      done = true;
    });
  }

  /** AWS keeps its word, and takes back what was PRIMARY when the notice came. */
  reclaimOnceMoved(agent: WorldAgent): void {
    const target = { region: REGION, agentId: agent.id, instanceId: agent.primary, knownSinceMs: 0 };
    const moved = async (): Promise<boolean> =>
      !(await this.world.database.primaries(agent.id)).includes(agent.primary);
    this.once(agent, moved, async () => {
      await this.world.ec2.activities.terminateEc2Instance(target);
      while ((await this.world.cloud(agent.id))[agent.primary] !== 'terminated') await delay(EVERY_MS);
    });
  }

  /** Null when every agent stands as it is to, with nothing under way, else what is missing. */
  async unfinished(): Promise<string | null> {
    try {
      for (const agent of this.agents) {
        const missing = await this.#missing(agent);
        if (missing !== null)
          return `${agent.id}: ${missing}${this.#trouble === null ? '' : ` (${this.#trouble})`}`;
      }
      return null;
    } catch (error) {
      return String(error);
    }
  }

  /** Stops all that goes on, and forgets the agents. */
  async end(): Promise<void> {
    this.#ended.abort();
    await Promise.all(this.#under);
    for (const { id } of this.agents)
      await this.world.client.workflow
        .getHandle(spotAgentId({ namespace: 'acme', name: id }))
        .terminate('its run is over')
        .catch((error: unknown) => {
          // A run that failed early has not started it.
          if (!(error instanceof WorkflowNotFoundError)) throw error;
        });
    await this.world.ec2.behave({ outages: [], capacity: [] });
  }

  async #missing(agent: CastAgent): Promise<string | null> {
    const { database, client } = this.world;
    if (this.#unanswered.has(agent.id)) return 'its notice is not answered';
    const [row] = await database.rows(
      'SELECT notice_status AS notice, switch_target AS target FROM agents WHERE id = ?',
      agent.id,
    );
    if (row?.['notice'] !== 'none' || row['target'] !== null) return JSON.stringify(row);
    const [statuses, cloud] = [await this.world.statuses(agent.id), await this.world.cloud(agent.id)];
    const [primary] = await database.primaries(agent.id);
    const isDone = (id: string): boolean =>
      statuses[id] === agent.others && (agent.others === 'zombie' || cloud[id] === 'terminated');
    const others = Object.keys(cloud).filter((id) => id !== primary);
    if ((primary !== agent.primary) !== agent.moved || !others.every(isDone))
      return JSON.stringify({ statuses, cloud });
    const open = await database.rows(
      "SELECT id FROM replica_instances WHERE agent_id = ? AND status IN ('launching', 'syncing', 'ready')",
      agent.id,
    );
    if (open.length > 0) return `${open.length} replicas are open`;
    return entityIsAt(client, spotAgentId({ namespace: 'acme', name: agent.id }));
  }

  /** What a replica's own agent says a moment after its launch, and from then on. */
  async #reportReplicas(agent: string): Promise<void> {
    const became = await this.world.reportBooted(agent);
    if (became) await this.world.wake(agent);
  }

  #goOn(act: () => Promise<void>): void {
    const run = async (): Promise<void> => {
      while (!this.#ended.signal.aborted) {
        try {
          await act();
          this.#trouble = null;
        } catch (error) {
          this.#trouble = String(error);
        }
        await delay(EVERY_MS);
      }
    };
    this.#under.push(run());
  }
}
