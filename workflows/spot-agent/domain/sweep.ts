import type { SpotObservation } from './observation.ts';
import { fateOf } from './readiness.ts';
import { stateOf } from './states.ts';
import { TIMES } from './times.ts';

/** What a comparison of rows and instances, in both directions, has found, and how it is healed. */
export type Finding =
  | { readonly heal: 'adopt'; readonly instance: string; readonly replica: string; readonly reason: string }
  | { readonly heal: 'terminate'; readonly instance: string; readonly reason: string }
  | { readonly heal: 'close-instance'; readonly instance: string; readonly reason: string }
  | { readonly heal: 'close-replica'; readonly replica: string; readonly reason: string };

/** Compares both ways. Without an answer of EC2 nothing is found: silence is no proof. */
export function sweep(observed: SpotObservation): readonly Finding[] {
  if (observed.cloud === null) return [];
  return [...findWithoutRow(observed), ...findWithoutInstance(observed)];
}

/** Instances that run and are tagged as the agent's, and that no live row knows. */
function findWithoutRow(observed: SpotObservation): readonly Finding[] {
  const { cloud, instances, replicas, nowMs } = observed;
  const live = (cloud?.instances ?? []).filter(
    (one) => one.ours && (one.state === 'pending' || one.state === 'running'),
  );
  return live.flatMap(({ id, replica, launchedAtMs }): readonly Finding[] => {
    const row = instances.find((one) => one.id === id);
    if (row !== undefined && stateOf(row.status) !== 'TERMINATED') return [];
    if (row !== undefined)
      return [{ heal: 'terminate', instance: id, reason: 'its row says terminated, and it runs' }];
    const known = replicas.find((one) => one.instanceId === id);
    if (known !== undefined && known.status !== 'failed' && known.status !== 'terminated') return [];
    if (known !== undefined)
      return [{ heal: 'terminate', instance: id, reason: `its replica ${known.id} is ${known.status}` }];
    const intended = replicas.find((one) => one.id === replica && one.instanceId === null);
    if (intended?.status === 'launching')
      return [
        { heal: 'adopt', instance: id, replica: intended.id, reason: `it was launched for ${intended.id}` },
      ];
    // A launch whose row is on its way is left alone for a moment.
    if (nowMs - launchedAtMs < TIMES.unseenMs) return [];
    return [{ heal: 'terminate', instance: id, reason: 'no row knows it: it was leaked, and is billed' }];
  });
}

/** Rows of instances that EC2 does not have; the PRIMARY's is a matter of fail-over, and a zombie's of retirement. */
function findWithoutInstance(observed: SpotObservation): readonly Finding[] {
  const rows = observed.instances.filter((one) => stateOf(one.status) === 'REPLICA');
  const lost = rows.filter((one) => fateOf(observed, one) === 'gone');
  const ghosts = observed.replicas.filter(
    (one) =>
      (one.status === 'syncing' || one.status === 'ready' || one.status === 'launching') &&
      one.instanceId !== null &&
      fateOf(observed, { id: one.instanceId, createdAtMs: one.createdAtMs }) === 'gone',
  );
  return [
    ...lost.map(({ id }): Finding => ({
      heal: 'close-instance',
      instance: id,
      reason: 'EC2 does not have it',
    })),
    ...ghosts.map(({ id, instanceId }): Finding => ({
      heal: 'close-replica',
      replica: id,
      reason: `EC2 does not have its instance ${instanceId ?? ''}`,
    })),
  ];
}
