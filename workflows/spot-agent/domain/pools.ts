import { isSamePool, poolName, type Market, type Pool, type SpotObservation } from './observation.ts';
import { TIMES } from './times.ts';

/** A pool to launch in, with why it was chosen. */
export interface PoolChoice extends Pool {
  readonly subnetId: string | null;
  readonly market: Market;
  readonly reason: string;
}

/** A pool that is not launched in, with why not. */
export interface PoolRefusal extends Pool {
  readonly reason: string;
}

export interface RankedPools {
  readonly chosen: readonly PoolChoice[];
  readonly refused: readonly PoolRefusal[];
}

/** A pool of which no price is known counts as dear, but not as impossible. */
const UNKNOWN_PRICE = 1;
/** How much dearer a pool counts for each interruption that it had in the last hour. */
const INTERRUPTION_FACTOR = 2;

/**
 * Ranks the configured pools: never the PRIMARY's type and zone together, none that lacked capacity a moment ago or
 * that holds an open replica already, interrupted ones later, then the cheapest first.
 */
export function rankPools(observed: SpotObservation): RankedPools {
  const { agent } = observed;
  const refused: PoolRefusal[] = [];
  const ranked: { readonly choice: PoolChoice; readonly cost: number }[] = [];
  for (const pool of agent.launch?.pools ?? []) {
    const refusal = refusePool(observed, pool);
    if (refusal !== null) refused.push({ instanceType: pool.instanceType, az: pool.az, reason: refusal });
    else ranked.push(judgePool(observed, pool));
  }
  const chosen = ranked
    .toSorted((a, b) => a.cost - b.cost || (poolName(a.choice) < poolName(b.choice) ? -1 : 1))
    .map(({ choice }) => choice);
  return { chosen, refused };
}

/** The pool for an instance at the full price: the one that is ranked last, which a race leaves free, or any but the PRIMARY's. */
export function selectOnDemand(observed: SpotObservation, ranked: RankedPools): PoolChoice | null {
  const { launch } = observed.agent;
  if (launch === null || !launch.onDemand) return null;
  const primary = primaryPool(observed);
  const pool =
    ranked.chosen.at(-1) ?? launch.pools.find((one) => primary === null || !isSamePool(one, primary));
  if (pool === undefined) return null;
  const { instanceType, az, subnetId } = pool;
  return { instanceType, az, subnetId, market: 'on-demand', reason: `${poolName(pool)} at the full price` };
}

function refusePool(observed: SpotObservation, pool: Pool): string | null {
  const { nowMs, replicas } = observed;
  const primary = primaryPool(observed);
  if (primary !== null && isSamePool(pool, primary))
    return 'the PRIMARY runs there: AWS takes back a type and zone together';
  const failed = replicas.find(
    (one) => one.status === 'failed' && isSamePool(one, pool) && nowMs - one.createdAtMs < TIMES.capacityMs,
  );
  if (failed !== undefined)
    return `a launch failed there a moment ago: ${failed.error ?? 'no reason was given'}`;
  const open = replicas.some(
    (one) => ['launching', 'syncing', 'ready'].includes(one.status) && isSamePool(one, pool),
  );
  return open ? 'a replica is prepared there already' : null;
}

function judgePool(
  observed: SpotObservation,
  pool: Pool & { readonly subnetId: string | null },
): { readonly choice: PoolChoice; readonly cost: number } {
  const { nowMs, instances, cloud } = observed;
  const price = cloud?.prices.find((one) => isSamePool(one, pool))?.price;
  const interruptions = instances.filter(
    (one) =>
      isSamePool(one, pool) &&
      one.interruptedAtMs !== null &&
      nowMs - one.interruptedAtMs < TIMES.interruptionMs,
  ).length;
  const cost = (price ?? UNKNOWN_PRICE) * INTERRUPTION_FACTOR ** interruptions;
  const reason = [
    price === undefined ? 'no price is known' : `$${price} an hour`,
    ...(interruptions === 0 ? [] : [`interrupted ${interruptions}× within the hour`]),
  ].join(', ');
  const { instanceType, az, subnetId } = pool;
  return {
    choice: { instanceType, az, subnetId, market: 'spot', reason: `${poolName(pool)}: ${reason}` },
    cost,
  };
}

function primaryPool({ instances }: SpotObservation): Pool | null {
  return instances.find((one) => one.status === 'running_primary') ?? null;
}
