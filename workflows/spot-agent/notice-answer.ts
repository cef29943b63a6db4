import type { IncomingNotice, MysqlActivities } from '../../activities/mysql/contract.ts';
import { failureOf } from '../shared/failures.ts';
import type { NoticeAnswer } from './contract.ts';
import { planForDeadline } from './domain/deadline.ts';
import { primaryOf, type SpotObservation, type SpotReplica } from './domain/observation.ts';
import { nextReplicaId } from './domain/plan.ts';
import type { PoolChoice } from './domain/pools.ts';
import { openReplicas, selectEmergencyHeirs } from './domain/readiness.ts';
import { planRebalance } from './domain/rebalance.ts';

type Desk = Pick<MysqlActivities, 'recordSpotNotice' | 'promoteSpotInstance' | 'recordSpotReplica'>;

/** Another promotion may win in between; then the rows are read again. */
const ATTEMPTS = 3;

/**
 * Writes a notice down and does at once what cannot wait: a ready replica is promoted here, without EC2 and without
 * another workflow; otherwise it is written down what is to be launched, which the entity's next turn does.
 */
export async function answerNotice(
  desk: Desk,
  notice: IncomingNotice,
  prices: NonNullable<SpotObservation['cloud']>['prices'],
): Promise<{ readonly answer: NoticeAnswer; readonly observed: SpotObservation | null }> {
  for (let attempt = 1; ; attempt += 1) {
    const told = await desk.recordSpotNotice(notice);
    if (told === null) return { answer: unknownAgent, observed: null };
    const observed: SpotObservation = { ...told.rows, cloud: null };
    const base = { effect: told.effect, ...standing(observed, notice) };
    try {
      const answer = await act(desk, observed, notice, prices);
      return { answer: { ...base, ...answer }, observed };
    } catch (error) {
      const code = failureOf(error)?.code;
      const lost = code === 'VersionConflict' || code === 'NotPromotable';
      if (!lost || attempt === ATTEMPTS) throw error;
    }
  }
}

type Done = Pick<NoticeAnswer, 'action' | 'message' | 'replicaId'> & Partial<NoticeAnswer>;

async function act(
  desk: Desk,
  observed: SpotObservation,
  notice: IncomingNotice,
  prices: NonNullable<SpotObservation['cloud']>['prices'],
): Promise<Done> {
  if (primaryOf(observed)?.id !== notice.instanceId)
    return { action: 'none', message: 'the instance is not PRIMARY', replicaId: null };
  if (notice.kind === 'termination') {
    const [heir] = selectEmergencyHeirs(observed);
    if (heir !== undefined) return promote(desk, observed, heir);
  }
  const open = openReplicas(observed);
  // What was written down before, by this notice or another, is what is prepared.
  if (open.length > 0)
    return { action: 'preparing', message: 'a replica is being prepared', replicaId: open[0]?.id ?? null };
  const { pools, message } = choosePools({ ...observed, cloud: { instances: [], prices } }, notice);
  for (const [at, pool] of pools.entries()) await intend(desk, observed, pool, at);
  return pools.length === 0
    ? { action: 'none', message, replicaId: null }
    : { action: 'preparing', message, replicaId: nextReplicaId(observed) };
}

async function promote(desk: Desk, { agent }: SpotObservation, heir: SpotReplica): Promise<Done> {
  const instanceId = heir.instanceId ?? '';
  const { epoch } = await desk.promoteSpotInstance({
    agentId: agent.id,
    instanceId,
    expectedEpoch: agent.epoch,
  });
  return {
    action: 'promoted',
    message: `${instanceId} is PRIMARY with epoch ${epoch}`,
    replicaId: heir.id,
    primary: instanceId,
    epoch,
  };
}

function choosePools(
  observed: SpotObservation,
  notice: IncomingNotice,
): { readonly pools: readonly PoolChoice[]; readonly message: string } {
  if (notice.kind === 'rebalance') {
    const choice = planRebalance(observed, notice.receivedAtMs);
    return { pools: choice.choice === 'prepare' ? [choice.pool] : [], message: choice.reason };
  }
  const choice = planForDeadline(observed, notice.deadlineMs ?? observed.nowMs);
  return { pools: choice.choice === 'launch-race' ? choice.pools : [], message: choice.reason };
}

async function intend(desk: Desk, observed: SpotObservation, pool: PoolChoice, at: number): Promise<void> {
  const { id, clientId, region } = observed.agent;
  await desk.recordSpotReplica({
    id: nextReplicaId(observed, at),
    agentId: id,
    clientId,
    region,
    instanceType: pool.instanceType,
    az: pool.az,
    market: pool.market,
    emergency: true,
    reason: pool.reason,
  });
}

const standing = (observed: SpotObservation, notice: IncomingNotice) => ({
  primary: primaryOf(observed)?.id ?? null,
  epoch: observed.agent.epoch,
  deadlineMs: observed.agent.notice?.deadlineMs ?? notice.deadlineMs,
});

const unknownAgent: NoticeAnswer = {
  effect: 'unknown-agent',
  action: 'none',
  message: 'there is no such agent',
  replicaId: null,
  primary: null,
  epoch: null,
  deadlineMs: null,
};
