import type { SpotObservation, SpotReplica } from './observation.ts';
import { rankPools, selectOnDemand, type PoolChoice } from './pools.ts';
import { isPromotable, openReplicas, refuseHeir, selectEmergencyHeirs } from './readiness.ts';
import { TIMES } from './times.ts';

/** What is done about a PRIMARY that goes, by the seconds that are left. */
export type DeadlineChoice =
  | { readonly choice: 'ready-replica'; readonly heir: SpotReplica; readonly reason: string }
  | {
      readonly choice: 'replica-in-launch';
      readonly replicas: readonly SpotReplica[];
      readonly reason: string;
    }
  | { readonly choice: 'launch-race'; readonly pools: readonly PoolChoice[]; readonly reason: string }
  | { readonly choice: 'none'; readonly reason: string };

/** How many spot pools are raced, beside one at the full price. */
const RACE = 2;

/** Chooses among a ready replica, one in launch, and several launches at once; says why, and what is missed. */
export function planForDeadline(observed: SpotObservation, deadlineMs: number): DeadlineChoice {
  const { nowMs } = observed;
  const secondsLeft = Math.round((deadlineMs - nowMs) / 1000);
  const left = secondsLeft >= 0 ? `${secondsLeft} s are left` : `the deadline passed ${-secondsLeft} s ago`;
  const heir = selectEmergencyHeirs(observed).find((one) => isPromotable(observed, one));
  if (heir !== undefined) {
    const flaw = refuseHeir(heir, nowMs);
    const reason = flaw === null ? `${heir.id} is ready` : `${flaw}, which is better than nothing`;
    return { choice: 'ready-replica', heir, reason: `${left}, and ${reason}` };
  }
  const open = openReplicas(observed).filter((one) => one.instanceId === null || isPromotable(observed, one));
  const intended = open.filter((one) => one.instanceId === null);
  const timely = open.filter((one) => expectedReadyMs(one, nowMs) + TIMES.promotionMs <= deadlineMs);
  if (intended.length > 0 || timely.length > 0) {
    const names = (intended.length > 0 ? intended : timely).map((one) => one.id).join(', ');
    return { choice: 'replica-in-launch', replicas: open, reason: `${left}, enough for ${names}` };
  }
  const ranked = rankPools(observed);
  const onDemand = selectOnDemand(observed, ranked);
  // A race that is already on is not started again: its replicas are late, and still the best there is.
  const raced = open.length > RACE;
  const pools = raced ? [] : [...ranked.chosen.slice(0, RACE), ...(onDemand === null ? [] : [onDemand])];
  if (pools.length > 0)
    return {
      choice: 'launch-race',
      pools,
      reason: `${left}: ${pools.length} launches at once, the first wins`,
    };
  if (open.length > 0)
    return { choice: 'replica-in-launch', replicas: open, reason: `${left}, too few, but nothing is faster` };
  const why = observed.agent.launch === null ? 'the agent has no launch configuration' : 'no pool is left';
  return { choice: 'none', reason: `${left}, and nothing can be launched: ${why}` };
}

/** When a replica is likely to be ready: known from its launch, as long as it has not reported. */
const expectedReadyMs = (replica: SpotReplica, nowMs: number): number =>
  Math.max(replica.createdAtMs + TIMES.bootMs, nowMs);
