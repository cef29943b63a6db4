import type { IncomingNotice } from '../../../activities/mysql/contract.ts';
import type { EntityInput } from '../../../workflows/shared/entity.ts';
import type { EntityPort, Port } from '../../../workflows/shared/port.ts';
import { runAgent } from '../../../workflows/spot-agent/agent-run.ts';
import { KIND, spotAgentId, type SpotTypes } from '../../../workflows/spot-agent/contract.ts';
import { spotLifecycle } from '../../../workflows/spot-agent/lifecycle.ts';
import { answerNotice } from '../../../workflows/spot-agent/notice-answer.ts';
import { failOver } from '../../../workflows/spot-agent/operations/fail-over.ts';
import { launchReplica } from '../../../workflows/spot-agent/operations/launch-replica.ts';
import { retireInstance } from '../../../workflows/spot-agent/operations/retire-instance.ts';
import { sweepAgent } from '../../../workflows/spot-agent/operations/sweep.ts';
import type { ActivityImplementation } from '../engine/attempts.ts';
import { Engine, type EngineOptions } from '../engine/engine.ts';
import type { WorkflowCode } from '../engine/execution.ts';
import { operationCode } from '../workflow-code.ts';
import { createSimulatedActivities } from './activities.ts';
import { REF, SpotSimulation } from './world.ts';

const ID = spotAgentId(REF);
const HOUR_MS = 3_600_000;
const NOTICE_MS = 120_000;

const operation = operationCode<SpotTypes>(() => spotLifecycle);

const WORKFLOWS: Readonly<Record<string, WorkflowCode>> = {
  spotAgent: (port, input) =>
    runAgent(port as unknown as EntityPort<SpotTypes['activities']>, input as unknown as EntityInput).end,
  // The desk of the entity, as a run of its own: whatever it does may happen at every moment of the loop.
  spotNotice: (port, input) =>
    answerNotice(
      (port as unknown as Port<SpotTypes['activities']>).act('notice'),
      input as unknown as IncomingNotice,
      [],
    ),
  failOverSpotAgent: operation(failOver),
  launchSpotReplica: operation(launchReplica),
  retireSpotInstance: operation(retireInstance),
  sweepSpotAgent: operation(sweepAgent),
};

/** A simulated agent, the engine that plays its lifecycle, and words for tests. */
export class SpotStage {
  readonly world = new SpotSimulation(0);
  readonly engine: Engine;
  #notices = 0;

  constructor(options: Partial<EngineOptions> = {}) {
    this.engine = new Engine({
      seed: 'spot',
      workflows: WORKFLOWS,
      activities: createSimulatedActivities(this.world) as unknown as Readonly<
        Record<string, ActivityImplementation>
      >,
      ...options,
    });
    this.hint();
  }

  hint(): void {
    const { uid, generation } = this.world.agent;
    const input = { kind: KIND, uid, generation };
    this.engine.signalWithStart('spotAgent', ID, { ref: REF }, { name: 'hint', input });
  }

  /** A notice arrives, and AWS keeps its word at the deadline. */
  notice(kind: IncomingNotice['kind'], instanceId: string, atMs = this.engine.agenda.nowMs): void {
    const nowMs = this.engine.agenda.nowMs;
    const deadlineMs = kind === 'termination' ? nowMs + NOTICE_MS : null;
    const notice = {
      agentId: REF.name,
      kind,
      instanceId,
      atMs,
      receivedAtMs: nowMs,
      deadlineMs,
      source: 'test',
    };
    this.#notices += 1;
    this.engine.start('spotNotice', `notice-${this.#notices}`, notice);
    this.engine.agenda.in(2_000, () => this.hint());
    if (deadlineMs !== null) this.engine.agenda.in(NOTICE_MS, () => this.world.reclaim(instanceId));
  }

  /** From now on agents report while they run, as real ones do. */
  report(): void {
    this.world.reportReady(this.engine.agenda.nowMs);
    this.engine.agenda.in(20_000, () => this.report());
  }

  async until(what: string, holds: () => boolean): Promise<void> {
    if (await this.engine.until(holds, HOUR_MS)) return;
    throw new Error(
      `it never came to pass that ${what}:\n${this.engine.journal.lines.slice(-40).join('\n')}`,
    );
  }

  /** Lets this much virtual time pass. */
  async pass(ms: number): Promise<void> {
    await this.engine.until(() => false, ms);
  }

  /** Instances that run, and that no row looks after. */
  get leaked(): readonly string[] {
    return [...this.world.cloud.values()]
      .filter((one) => one.state === 'running' && one.ours)
      .map((one) => one.id)
      .filter((id) => (this.world.instances.get(id)?.status ?? 'terminated') === 'terminated');
  }

  get runs(): boolean {
    const { primary, cloud } = this.world;
    return primary !== null && cloud.get(primary.id)?.state === 'running';
  }
}
