import type { IncomingNotice, NoticeEffect } from '../../../activities/mysql/contract.ts';
import { failure } from '../../../workflows/shared/failures.ts';
import type { SpotTypes } from '../../../workflows/spot-agent/contract.ts';
import { poolName, type SpotRows } from '../../../workflows/spot-agent/domain/observation.ts';
import { currentAttempt } from '../engine/attempts.ts';
import type { SpotSimulation } from './world.ts';

const POLL_MS = 250;
const SYNC_MS = 60_000;
const OPEN: ReadonlySet<string> = new Set(['launching', 'syncing', 'ready']);

/** The activities on the simulated world, each safe to repeat, as the real ones are. */
export function createSimulatedActivities(world: SpotSimulation): SpotTypes['activities'] {
  const now = (): number => currentAttempt().nowMs();
  const rows = (): SpotRows => ({
    nowMs: now(),
    agent: { ...world.agent },
    instances: [...world.instances.values()].map((one) => ({ ...one })),
    replicas: [...world.replicas.values()].map((one) => ({ ...one })),
  });
  return {
    readSpotRows: async () => rows(),
    readSpotRegions: async () => [world.agent.region],
    readSpotRemembrance: async () => ({
      nowMs: now(),
      agents: [world.agent.id],
      instances: [],
      replicas: [],
    }),
    async promoteSpotInstance({ instanceId, expectedEpoch }) {
      const refusal = world.promote(instanceId, expectedEpoch, now());
      const epoch = expectedEpoch + 1;
      const done = world.agent.epoch === epoch && world.primary?.id === instanceId;
      if (refusal !== null && !(refusal === 'version conflict' && done))
        throw failure(refusal === 'version conflict' ? 'VersionConflict' : 'NotPromotable', refusal);
      return { epoch, repeated: refusal !== null, seconds: 0 };
    },
    recordSpotNotice: async (notice) => ({ effect: takeNotice(world, notice), rows: rows() }),
    async clearSpotNotice({ instanceId, notice }) {
      const { agent } = world;
      if (agent.notice?.instanceId === instanceId && agent.notice.kind === notice) agent.notice = null;
    },
    async recordSpotReplica({ id, instanceType, az, market, emergency }) {
      if (world.replicas.has(id)) return;
      world.agent.replicasEver += 1;
      world.replicas.set(id, {
        id,
        instanceType,
        az,
        market,
        emergency,
        instanceId: null,
        status: 'launching',
        createdAtMs: now(),
        lastSyncMs: null,
        error: null,
      });
    },
    async linkSpotReplica({ replica, instanceId }) {
      const found = world.replicas.get(replica);
      if (found === undefined || (found.instanceId ?? instanceId) !== instanceId)
        throw failure('ResourceGone', `${replica} is gone, or has another instance`);
      found.instanceId = instanceId;
      if (world.instances.has(instanceId)) return;
      const { instanceType, az, market } = found;
      const times = { createdAtMs: now(), retiredAtMs: null, interruptedAtMs: null };
      world.instances.set(instanceId, {
        id: instanceId,
        instanceType,
        az,
        market,
        status: 'launching',
        ...times,
      });
    },
    closeSpotReplica: async ({ replica, to, error }) => closeReplica(world, replica, to, error, now()),
    async awaitSpotReplica({ replicas, untilMs }) {
      for (;;) {
        const found = replicas.flatMap((id) => world.replicas.get(id) ?? []);
        const ready = found.find((one) => one.status === 'ready' && now() - (one.lastSyncMs ?? 0) < SYNC_MS);
        if (ready !== undefined) return { ready: ready.id, message: 'ready' };
        if (!found.some((one) => OPEN.has(one.status)) || now() >= untilMs)
          return { ready: null, message: 'none' };
        await currentAttempt().sleep(POLL_MS);
      }
    },
    async closeSpotInstance({ instanceId }) {
      const row = world.instances.get(instanceId);
      if (row?.status === 'running_primary') throw failure('NotPromotable', `${instanceId} is PRIMARY`);
      if (row !== undefined) Object.assign(row, { status: 'terminated', retiredAtMs: now() });
      for (const replica of world.replicas.values())
        if (replica.instanceId === instanceId && OPEN.has(replica.status)) replica.status = 'terminated';
    },
    async writeSpotStatus({ phase, carriedOut }) {
      Object.assign(world.agent, { phase, carriedOut });
    },
    async recordSpotEvent({ type, message }) {
      world.events.push(`${type}: ${message}`);
    },
    observeEc2Instances: async () =>
      world.away ? null : { instances: [...world.cloud.values()].map((one) => ({ ...one })), prices: [] },
    observeTaggedEc2Instances: async () => [],
    async launchEc2Instance({ replica, instanceType, az, market }) {
      if (world.away) throw failure('Ec2Unavailable', 'EC2 does not answer');
      if (market === 'spot' && world.full.has(poolName({ instanceType, az })))
        throw failure('Ec2NoCapacity', 'InsufficientInstanceCapacity');
      return { instanceId: world.launch(replica, { instanceType, az }, now()), repeated: false };
    },
    async terminateEc2Instance({ instanceId }) {
      if (world.away) throw failure('Ec2Unavailable', 'EC2 does not answer');
      // As the real one does: what is not tagged as the agent's is left alone.
      if (world.cloud.get(instanceId)?.ours === false)
        throw failure('Ec2NotOurs', `${instanceId} is not ours`);
      world.terminate(instanceId);
      return { state: 'terminated' };
    },
    async awaitEc2Terminated() {},
  };
}

/** Takes a notice as the database does: one effect, whatever comes after. */
export function takeNotice(world: SpotSimulation, notice: IncomingNotice): NoticeEffect {
  const { agent, primary } = world;
  const { kind, instanceId, receivedAtMs, deadlineMs } = notice;
  const row = world.instances.get(instanceId);
  if (kind === 'termination' && row !== undefined) row.interruptedAtMs ??= receivedAtMs;
  if (primary?.id !== instanceId) {
    const replica = [...world.replicas.values()].find(
      (one) => one.instanceId === instanceId && OPEN.has(one.status),
    );
    if (replica === undefined) return 'past';
    if (kind === 'termination') closeReplica(world, replica.id, 'failed', 'AWS takes it back', receivedAtMs);
    return 'replica';
  }
  const key = `${instanceId} ${kind} ${notice.atMs}`;
  const first = agent.notice === null || agent.notice.instanceId !== instanceId;
  const graver = agent.notice?.kind === 'rebalance' && kind === 'termination';
  if (world.notices.has(key) || !(first || graver)) return 'known';
  world.notices.add(key);
  agent.notice = { kind, instanceId, receivedAtMs, deadlineMs };
  agent.generation += 1;
  return 'new';
}

function closeReplica(
  world: SpotSimulation,
  id: string,
  to: 'failed' | 'terminated',
  error: string | null,
  nowMs: number,
): void {
  const replica = world.replicas.get(id);
  const row = world.instances.get(replica?.instanceId ?? '');
  if (row !== undefined && ['launching', 'running_replica', 'promoting'].includes(row.status))
    Object.assign(row, { status: 'terminating', retiredAtMs: nowMs });
  if (replica?.status === 'promoted') throw failure('NotPromotable', `${id} has become PRIMARY`);
  if (replica !== undefined && OPEN.has(replica.status)) Object.assign(replica, { status: to, error });
}
