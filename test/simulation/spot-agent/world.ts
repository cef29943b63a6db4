import type {
  CloudInstance,
  SpotAgent,
  SpotInstance,
  SpotReplica,
} from '../../../workflows/spot-agent/domain/observation.ts';
import { judgeRegistration } from '../../../workflows/spot-agent/domain/registration.ts';
import { sampleAgent, sampleInstance } from '../../domain/spot-agent/sample-observation.ts';

type Open<T> = { -readonly [K in keyof T]: T[K] };

/** The resource of the simulated agent. */
export const REF = { namespace: 'acme', name: 'agent-1' } as const;

/** Rows and instances as the database and EC2 would keep them, with the rules that the database holds itself. */
export class SpotSimulation {
  readonly agent: Open<SpotAgent> = {
    ...sampleAgent(),
    epoch: 0,
    generation: 1,
    lastHeartbeatMs: null,
    phase: null,
  };
  readonly instances = new Map<string, Open<SpotInstance>>();
  readonly replicas = new Map<string, Open<SpotReplica>>();
  readonly cloud = new Map<string, Open<CloudInstance>>();
  readonly events: string[] = [];
  readonly notices = new Set<string>();
  /** What was promised and not kept; a test wants none. */
  readonly broken: string[] = [];
  /** Whether EC2 answers nobody now. */
  away = false;
  /** Pools that have no capacity now. */
  readonly full = new Set<string>();
  #launched = 0;

  constructor(nowMs: number) {
    Object.assign(this.agent, { carriedOut: null, replicasEver: 0, movesMs: [] });
    const primary = sampleInstance({ id: 'i-first', createdAtMs: nowMs });
    this.instances.set(primary.id, primary);
    this.#run('i-first', primary, null, nowMs);
  }

  get primary(): Open<SpotInstance> | null {
    return [...this.instances.values()].find((one) => one.status === 'running_primary') ?? null;
  }

  /** Compares the epoch, demotes and promotes at once, as the procedure does; gives the refusal. */
  promote(instanceId: string, expectedEpoch: number, nowMs: number): string | null {
    if (this.agent.epoch !== expectedEpoch) return 'version conflict';
    const row = this.instances.get(instanceId);
    if (row === undefined || !['launching', 'running_replica', 'promoting'].includes(row.status))
      return 'instance cannot be promoted';
    const before = this.primary;
    if (before !== null) Object.assign(before, { status: 'zombie', retiredAtMs: nowMs });
    row.status = 'running_primary';
    this.agent.epoch += 1;
    this.agent.switchTarget = null;
    this.agent.movesMs = [...this.agent.movesMs, nowMs];
    for (const replica of this.replicas.values())
      if (replica.instanceId === instanceId) replica.status = 'promoted';
    const primaries = [...this.instances.values()].filter((one) => one.status === 'running_primary');
    if (primaries.length !== 1) this.broken.push(`${primaries.length} instances are PRIMARY`);
    return null;
  }

  /** Judges a registration as the API does, and writes what it makes new; a second PRIMARY would be a broken promise. */
  register(instanceId: string, claim: { readonly isPrimary: boolean; readonly epoch: number | null }): void {
    const { agent, primary } = this;
    const instance = this.instances.get(instanceId);
    const replica = [...this.replicas.values()].find((one) => one.instanceId === instanceId);
    const judged = judgeRegistration(
      { clientId: agent.clientId, instanceId, ...claim },
      {
        agent,
        instance: instance === undefined ? null : { agentId: agent.id, status: instance.status },
        replica: replica === undefined ? null : { agentId: agent.id, status: replica.status },
        primary: primary?.id ?? null,
      },
    );
    const isFirst = judged.is === 'new-primary' && primary === null;
    if (isFirst) this.#addPrimary(instanceId);
    else if (judged.is === 'new-primary' || (judged.is === 'same-primary' && primary?.id !== instanceId))
      this.broken.push(`${instanceId} registered as PRIMARY beside ${primary?.id ?? 'none'}`);
    if (judged.is === 'replica' && replica?.status === 'launching') replica.status = 'syncing';
  }

  /** Where no row is PRIMARY, one that registers as such is, with the tag that the README asks for. */
  #addPrimary(id: string): void {
    const primary = sampleInstance({ id, az: 'us-east-1c', createdAtMs: 0 });
    this.instances.set(id, primary);
    if (!this.cloud.has(id)) this.#run(id, primary, null, 0);
    this.agent.generation += 1;
    this.agent.epoch += 1;
  }

  /** An instance that runs and that no row knows of: ours, whose launch was lost, or somebody else's. */
  appear(ours: boolean, nowMs: number): void {
    this.#launched += 1;
    const pool = { instanceType: 'm5.large', az: 'us-east-1c' };
    this.#run(`i-${this.#launched}`, pool, null, nowMs, ours);
  }

  /** Launches for a replica; a second launch for the same one is a broken promise. */
  launch(
    replica: string,
    pool: { readonly instanceType: string; readonly az: string },
    nowMs: number,
  ): string {
    const before = [...this.cloud.values()].find((one) => one.replica === replica);
    if (before !== undefined) return before.id;
    this.#launched += 1;
    const id = `i-${this.#launched}`;
    this.#run(id, pool, replica, nowMs);
    return id;
  }

  /** Ends an instance; ending one that should live is a broken promise. */
  terminate(id: string): void {
    const status = this.instances.get(id)?.status ?? 'terminated';
    if (!['zombie', 'terminating', 'terminated'].includes(status))
      this.broken.push(`${id} was terminated, and is ${status}`);
    const found = this.cloud.get(id);
    if (found?.ours === false) this.broken.push(`${id} was terminated, and is not ours`);
    if (found !== undefined) found.state = 'terminated';
  }

  /** A person ends the PRIMARY and closes its row by hand, past every rule. */
  vacate(nowMs: number): void {
    const { primary } = this;
    if (primary === null) return;
    this.reclaim(primary.id);
    Object.assign(primary, { status: 'terminated', retiredAtMs: nowMs });
  }

  /** AWS takes an instance back. */
  reclaim(id: string): void {
    const found = this.cloud.get(id);
    if (found !== undefined) found.state = 'terminated';
  }

  /** Every replica that runs says of itself that it is ready, as its own agent does. */
  reportReady(nowMs: number): void {
    for (const replica of this.replicas.values()) {
      const runs = replica.instanceId !== null && this.cloud.get(replica.instanceId)?.state === 'running';
      if (!runs || !['launching', 'syncing', 'ready'].includes(replica.status)) continue;
      Object.assign(replica, { status: 'ready', lastSyncMs: nowMs });
      const row = this.instances.get(replica.instanceId ?? '');
      if (row?.status === 'launching') row.status = 'running_replica';
    }
  }

  #run(
    id: string,
    { instanceType, az }: { readonly instanceType: string; readonly az: string },
    replica: string | null,
    launchedAtMs: number,
    ours = true,
  ): void {
    this.cloud.set(id, { id, instanceType, az, state: 'running', ours, replica, launchedAtMs });
  }
}
