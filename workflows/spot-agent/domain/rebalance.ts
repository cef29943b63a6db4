import { isSamePool, primaryOf, type SpotObservation, type SpotReplica } from './observation.ts';
import { rankPools, type PoolChoice } from './pools.ts';
import { openReplicas, selectHeirs } from './readiness.ts';
import { TIMES } from './times.ts';

/** What is done about a recommendation to rebalance. */
export type RebalanceChoice =
  | { readonly choice: 'prepare'; readonly pool: PoolChoice; readonly reason: string }
  | { readonly choice: 'await'; readonly replicas: readonly SpotReplica[]; readonly reason: string }
  | { readonly choice: 'promote'; readonly heir: SpotReplica; readonly reason: string }
  | { readonly choice: 'hold'; readonly reason: string }
  | { readonly choice: 'expire'; readonly reason: string };

/** Prepares a replica in another pool, promotes it when the policy says so, and lets the recommendation expire. */
export function planRebalance(observed: SpotObservation, receivedAtMs: number): RebalanceChoice {
  const { agent, nowMs } = observed;
  if (nowMs - receivedAtMs >= TIMES.rebalanceMs)
    return { choice: 'expire', reason: 'no interruption has followed within half an hour' };
  const primary = primaryOf(observed);
  const elsewhere = (one: SpotReplica): boolean => primary === null || !isSamePool(one, primary);
  const heir = selectHeirs(observed).find(elsewhere);
  if (heir !== undefined) return judgePromotion(observed, heir);
  const open = openReplicas(observed).filter(elsewhere);
  if (open.length > 0)
    return { choice: 'await', replicas: open, reason: `${open[0]?.id ?? ''} is not ready yet` };
  const cap = agent.launch?.maxMovesPerHour ?? 0;
  if (movesOf(observed) >= cap) return { choice: 'hold', reason: capped(cap) };
  const [pool] = rankPools(observed).chosen;
  return pool === undefined
    ? { choice: 'hold', reason: 'no pool is left to prepare a replica in' }
    : { choice: 'prepare', pool, reason: `a replica outside the PRIMARY’s pool: ${pool.reason}` };
}

/** Promotions in the last hour, which are capped so that agents do not wander from pool to pool. */
export const movesOf = ({ agent, nowMs }: SpotObservation): number =>
  agent.movesMs.filter((atMs) => nowMs - atMs < TIMES.hourMs).length;

function judgePromotion(observed: SpotObservation, heir: SpotReplica): RebalanceChoice {
  const { agent } = observed;
  const cap = agent.launch?.maxMovesPerHour ?? 0;
  if (!agent.autoSwitch)
    return {
      choice: 'hold',
      reason: `${heir.id} is ready and waits: auto-switch is off, only an interruption moves`,
    };
  return movesOf(observed) >= cap
    ? { choice: 'hold', reason: `${heir.id} is ready and waits: ${capped(cap)}` }
    : { choice: 'promote', heir, reason: `${heir.id} is ready in another pool` };
}

const capped = (cap: number): string => `the cap of ${cap} moves an hour is reached`;
