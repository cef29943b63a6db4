import {
  primaryOf,
  type CloudInstance,
  type SpotInstance,
  type SpotObservation,
  type SpotReplica,
  type SpotRows,
} from './observation.ts';
import { stateOf } from './states.ts';
import { TIMES } from './times.ts';

/** Why a replica must not be promoted yet, or null: ready, synced within a minute, no error, with an instance. */
export function refuseHeir(replica: SpotReplica, nowMs: number): string | null {
  if (replica.instanceId === null) return `replica ${replica.id} has no instance yet`;
  if (replica.status !== 'ready') return `replica ${replica.id} is ${replica.status}`;
  if (replica.error !== null) return `replica ${replica.id} reports: ${replica.error}`;
  if (replica.lastSyncMs === null) return `replica ${replica.id} has never synced`;
  if (nowMs - replica.lastSyncMs > TIMES.syncMs)
    return `replica ${replica.id} synced ${Math.round((nowMs - replica.lastSyncMs) / 1000)} s ago`;
  return null;
}

/** The replicas that are ready to be PRIMARY, the freshest first; none that AWS has announced to take back. */
export function selectHeirs(rows: SpotRows): readonly SpotReplica[] {
  return openReplicas(rows)
    .filter((one) => refuseHeir(one, rows.nowMs) === null && one.instanceId !== rows.agent.notice?.instanceId)
    .toSorted((a, b) => (b.lastSyncMs ?? 0) - (a.lastSyncMs ?? 0) || (a.id < b.id ? -1 : 1));
}

/** In an emergency the healthy ones come first, and then every one that ever said that it is ready. */
export function selectEmergencyHeirs(rows: SpotRows): readonly SpotReplica[] {
  const healthy = selectHeirs(rows);
  const stale = openReplicas(rows).filter(
    (one) =>
      one.status === 'ready' &&
      one.instanceId !== null &&
      one.instanceId !== rows.agent.notice?.instanceId &&
      !healthy.includes(one),
  );
  return [...healthy, ...stale.toSorted((a, b) => (b.lastSyncMs ?? 0) - (a.lastSyncMs ?? 0))];
}

/** The replicas that are being prepared or stand ready. */
export const openReplicas = ({ replicas }: Pick<SpotRows, 'replicas'>): readonly SpotReplica[] =>
  replicas.filter((one) => one.status === 'launching' || one.status === 'syncing' || one.status === 'ready');

const GONE: ReadonlySet<CloudInstance['state']> = new Set([
  'shutting-down',
  'terminated',
  'stopping',
  'stopped',
]);

/** What EC2 says of an instance; `unknown` when EC2 could not be asked, or may not have heard of it yet. */
export function fateOf(
  { cloud, nowMs }: Pick<SpotObservation, 'cloud' | 'nowMs'>,
  instance: { readonly id: string; readonly createdAtMs: number },
): 'runs' | 'goes' | 'gone' | 'unknown' {
  if (cloud === null) return 'unknown';
  const found = cloud.instances.find((one) => one.id === instance.id);
  if (found === undefined) return nowMs - instance.createdAtMs < TIMES.unseenMs ? 'unknown' : 'gone';
  if (found.state === 'terminated') return 'gone';
  return GONE.has(found.state) ? 'goes' : 'runs';
}

/** Whether the procedure would take a replica, and EC2 does not deny it; what has just spoken is denied by no omission. */
export function isPromotable(observed: SpotObservation, replica: SpotReplica): boolean {
  const { instanceId, createdAtMs } = replica;
  if (instanceId === null) return false;
  const row = observed.instances.find((one) => one.id === instanceId);
  if (row !== undefined && stateOf(row.status) !== 'REPLICA') return false;
  const isListed = observed.cloud?.instances.some((one) => one.id === instanceId) ?? false;
  if (!isListed && refuseHeir(replica, observed.nowMs) === null) return true;
  const fate = fateOf(observed, { id: instanceId, createdAtMs });
  return fate === 'runs' || fate === 'unknown';
}

/**
 * Why an instance must be made PRIMARY now, or null. Nothing here leaves an agent without a PRIMARY's row, but a person
 * or a restored database may, and it is then no less unserved than after a loss.
 */
export function describeVacancy(observed: SpotObservation): string | null {
  const primary = primaryOf(observed);
  return primary === null ? 'no row is PRIMARY' : describeLoss(observed, primary);
}

/** Why the PRIMARY must be replaced now, or null. Silence alone is no reason: EC2 must say that it has ended. */
export function describeLoss(observed: SpotObservation, primary: SpotInstance): string | null {
  const { notice } = observed.agent;
  if (notice?.kind === 'termination' && notice.instanceId === primary.id)
    return 'AWS has announced to take the PRIMARY back';
  const fate = fateOf(observed, primary);
  if (fate === 'gone') return isDenied(observed, primary) ? null : 'EC2 says that the PRIMARY is gone';
  return fate === 'goes' ? 'EC2 says that the PRIMARY ends' : null;
}

/** Whether EC2 knows nothing of a PRIMARY that still speaks: the wrong account was asked, or an incomplete list given. */
function isDenied(observed: SpotObservation, primary: SpotInstance): boolean {
  const isListed = observed.cloud?.instances.some((one) => one.id === primary.id) ?? false;
  return !isListed && observed.agent.lastHeartbeatMs !== null && !isSilent(observed);
}

/** Whether the PRIMARY has not been heard of for so long that it is suspected. */
export const isSilent = ({ agent, nowMs }: Pick<SpotRows, 'agent' | 'nowMs'>): boolean =>
  agent.lastHeartbeatMs !== null && nowMs - agent.lastHeartbeatMs > TIMES.heartbeatLostMs;
