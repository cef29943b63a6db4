import type { ValkeyPlan } from '../../valkey-cluster/domain/commands.ts';
import { numberSteps, type Draft, type Stage } from '../../valkey-cluster/domain/stages.ts';
import { count, type ValkeyTopology } from '../../valkey-cluster/domain/topology.ts';
import { lostMembers } from './lost-members.ts';
import { draftRollback, draftUpgrade } from './plan-shard.ts';
import { readsDataOf, type Strategy } from './resource.ts';
import { allMembers, listShards, type Member } from './shard-members.ts';

/** What an upgrade asks of a cluster. */
export interface UpgradeWish {
  readonly from: string;
  readonly to: string;
  readonly masters: number;
  readonly replicasPerMaster: number;
  readonly strategy: Strategy;
  readonly maxUnavailableShards: number;
  /** Pods have no volumes, so that nothing can be kept on them. */
  readonly withoutVolumes?: boolean;
  /** The shards that a person wanted left out. */
  readonly leftOut?: readonly number[];
}

export const UPGRADE_PLAN_VERSION = 1;

/** Shard after shard to the target version, from what is there: a shard that has it already has no steps. */
export function planUpgrade(topology: ValkeyTopology, wish: UpgradeWish): ValkeyPlan {
  const { from, to: tag, strategy } = wish;
  const pods = 1 + wish.replicasPerMaster;
  const { withoutVolumes = false } = wish;
  const goal = { tag, from, pods, surge: strategy === 'Surge', fresh: false, back: false, withoutVolumes };
  const shards = listShards(topology).map((shard) =>
    wish.leftOut?.includes(shard.shard) === true
      ? // It keeps its version, and is mended like the others.
        draftUpgrade(shard, { ...goal, tag: shard.tag ?? from, surge: false })
      : draftUpgrade(shard, goal),
  );
  return build('upgrade', topology, shards, wish);
}

/** Shard after shard back to the version that it came from, the last one first. */
export function planRollback(topology: ValkeyTopology, wish: UpgradeWish): ValkeyPlan {
  const { from: tag, to: from } = wish;
  const pods = 1 + wish.replicasPerMaster;
  // A node without another beside it would be away while it restarts.
  const fresh = !readsDataOf(tag, from);
  const goal = { tag, from, pods, surge: pods === 1, fresh, back: true, withoutVolumes: false };
  const shards = listShards(topology)
    .toReversed()
    .map((shard) => draftRollback(shard, goal));
  return build('rollback', topology, shards, wish);
}

/** Why there is no way back any more, in words; null while there is one. */
export function refuseRollback(
  topology: ValkeyTopology,
  { from, to }: Pick<UpgradeWish, 'from' | 'to'>,
): string | null {
  if (readsDataOf(from, to)) return null;
  const isOld = (member: Member): boolean => member.tag === from || !member.started;
  const gone = listShards(topology).find((shard) => !allMembers(shard).some(isOld));
  return gone === undefined
    ? null
    : `shard ${gone.shard} has no node on ${from} any more, and ${from} can not read what ${to} writes`;
}

function build(
  operation: string,
  topology: ValkeyTopology,
  shards: readonly (readonly Draft[])[],
  wish: UpgradeWish,
): ValkeyPlan {
  const touched = shards.filter((drafts) => drafts.length > 0);
  const steps = numberSteps([
    draftForgetting(topology),
    ...inBatches(touched, wish.maxUnavailableShards),
    [verify(wish, operation)],
  ]);
  return {
    operation,
    version: UPGRADE_PLAN_VERSION,
    steps,
    totals: { slotsMoved: 0, steps: steps.length, shards: touched.length },
  };
}

/**
 * What pods were before they came back as other members keeps a cluster from ever being whole; nobody can want it back.
 * While a server does not answer it could not forget them: its shard comes first, and forgets them itself.
 */
function draftForgetting(topology: ValkeyTopology): Stage {
  const silent = topology.health?.unreachable ?? [];
  const nodes = silent.length > 0 ? [] : lostMembers(topology, true).toSorted();
  const reason = `${count(nodes.length, 'member')} without a pod and without a slot must be forgotten by all others`;
  return nodes.length === 0 ? [] : [{ kind: 'ForgetNode', shard: null, nodes, reason }];
}

/** Only so many shards are disturbed at a time; each goes through its own steps, one after the other. */
function inBatches(shards: readonly (readonly Draft[])[], width: number): readonly Stage[] {
  const stages: Stage[] = [];
  for (let first = 0; first < shards.length; first += width) {
    const batch = shards.slice(first, first + width);
    const longest = Math.max(...batch.map((drafts) => drafts.length));
    for (let at = 0; at < longest; at += 1) stages.push(batch.flatMap((drafts) => drafts[at] ?? []));
  }
  return stages;
}

function verify({ masters, replicasPerMaster, from, to }: UpgradeWish, operation: string): Draft {
  const tag = operation === 'upgrade' ? to : from;
  return {
    kind: 'VerifyHealth',
    expect: 'healthy',
    masters,
    replicasPerMaster,
    reason: `${count(masters, 'master')} with ${count(replicasPerMaster, 'replica')} each must serve all slots, agree, and run ${tag}`,
  };
}
