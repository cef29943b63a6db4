import type { Draft } from '../../valkey-cluster/domain/stages.ts';
import { count } from '../../valkey-cluster/domain/topology.ts';
import { selectCandidate } from './candidate.ts';
import { readsDataOf } from './resource.ts';
import { allMembers, type Member, type ShardMembers } from './shard-members.ts';

/** What a shard is to become. */
export interface ShardGoal {
  /** The tag that every node is to run with. */
  readonly tag: string;
  /** The tag that it comes from. */
  readonly from: string;
  /** How many pods the shard has when nobody upgrades it. */
  readonly pods: number;
  readonly surge: boolean;
  /** Whether nodes begin with an empty volume, because the version can not read what is there. */
  readonly fresh: boolean;
  /** Whether this is the way back, on which nothing is given up that anybody wants to keep. */
  readonly back: boolean;
  /** Whether nothing can be kept on a pod that goes. */
  readonly withoutVolumes: boolean;
}

/** The steps that bring one shard to the target version, in order; none when it is there already. */
export function draftUpgrade(shard: ShardMembers, goal: ShardGoal): readonly Draft[] {
  const old = allMembers(shard).filter((member) => member.tag !== goal.tag);
  if (old.length === 0 && shard.tag === goal.tag && shard.pods === goal.pods && isWhole(shard)) return [];
  const surges = goal.surge && old.some((member) => member.ordinal < goal.pods);
  const pods = surges ? goal.pods + 1 : Math.max(shard.pods, goal.pods);
  const heir = selectHeir(shard, goal, pods);
  return [
    ...draftSet(shard, goal, pods),
    // What does not run would only be waited for in vain, as long as it is made for another version.
    ...draftReplicas(shard, goal, (member) => !member.ready),
    ...draftJoining(shard, goal, pods),
    ...draftReplicas(shard, goal, (member) => member.ready),
    ...draftMaster(shard, goal, heir),
    ...draftHandBack(shard, goal, heir),
    ...draftShrinking(shard, goal, pods),
  ];
}

/**
 * The steps that bring one shard back, in order; none when it is there already. It is handed to a node of the old version
 * first, while there is one. Otherwise the way back is the way there, with a broken replica for the time being gone first.
 */
export function draftRollback(shard: ShardMembers, goal: ShardGoal): readonly Draft[] {
  const wrong = allMembers(shard).filter((member) => member.tag !== goal.tag);
  if (wrong.length === 0 && shard.tag === goal.tag && shard.pods === goal.pods && isWhole(shard)) return [];
  const { master } = shard;
  const heirs = shard.replicas.filter((member) => member.tag === goal.tag && member.ready);
  const best = selectCandidate(nodesOf(heirs), master?.node ?? null);
  if (master !== null && master.tag !== goal.tag && best !== null) {
    const restored = wrong
      .filter((member) => member.ordinal < goal.pods)
      .toSorted((a, b) => Number(a.ready) - Number(b.ready));
    return [
      ...draftSet(shard, goal, shard.pods),
      handOver(shard, master.pod, best.node.pod, `runs ${goal.tag}, ${best.why}`),
      ...draftShrinking(shard, goal, shard.pods),
      ...restored.map((member) => restart(shard, member.pod, `on ${member.tag ?? '?'}`, goal)),
    ];
  }
  const surplus = allMembers(shard).filter((member) => member.ordinal >= goal.pods);
  if (surplus.every((member) => member.ready)) return draftUpgrade(shard, goal);
  const replicas = shard.replicas.filter((member) => !surplus.includes(member));
  return [
    ...draftSet(shard, goal, shard.pods),
    ...draftShrinking(shard, goal, shard.pods),
    ...draftUpgrade({ ...shard, replicas, pods: goal.pods, tag: goal.tag }, goal),
  ];
}

const isWhole = (shard: ShardMembers): boolean =>
  shard.master !== null && allMembers(shard).every((member) => member.joined && member.ready);

const nodesOf = (members: readonly Member[]) => members.flatMap(({ node }) => (node === null ? [] : [node]));

/** From here on, whatever pod of the shard starts anew, starts with this version. */
function draftSet({ shard, pods: has, tag }: ShardMembers, goal: ShardGoal, pods: number): readonly Draft[] {
  if (tag === goal.tag && has >= pods) return [];
  const more = pods > has ? `, and a replica more for the time being` : '';
  const reason = `pods of shard ${shard} start with ${goal.tag} from now on${more}`;
  return [{ kind: 'CreateShard', shard, pods, tag: goal.tag, reason }];
}

/** What is still to come, or has come back with another address, joins before anything else is disturbed. */
function draftJoining(shard: ShardMembers, goal: ShardGoal, pods: number): readonly Draft[] {
  const present = allMembers(shard);
  const settled = present.filter((member) => member.tag !== goal.tag || (member.joined && member.ready));
  if (settled.length >= pods) return [];
  const shards = [shard.shard];
  return [
    {
      kind: 'AwaitPods',
      shards,
      pods,
      reason: `${count(pods, 'pod')} of shard ${shard.shard} must be Ready`,
    },
    { kind: 'MeetNode', shards, reason: `the nodes of shard ${shard.shard} must know all others` },
    {
      kind: 'AttachReplica',
      shard: shard.shard,
      replicas: pods - 1,
      reason: `${count(pods - 1, 'replica')} of shard ${shard.shard} must follow its master and be in sync`,
    },
  ];
}

/** Some of the replicas, one by one; those that do not run anyway come before the others. */
function draftReplicas(
  shard: ShardMembers,
  goal: ShardGoal,
  isMeant: (member: Member) => boolean,
): readonly Draft[] {
  const old = shard.replicas
    .filter((member) => member.tag !== goal.tag)
    .toSorted((a, b) => Number(a.ready) - Number(b.ready) || a.ordinal - b.ordinal);
  return old.flatMap((member, at) => {
    if (!isMeant(member)) return [];
    const again = restart(
      shard,
      member.pod,
      `a replica of shard ${shard.shard} on ${member.tag ?? '?'}`,
      goal,
    );
    const last = at === old.length - 1 && shard.master?.tag === goal.tag && member.tag === goal.from;
    return last ? draftLast(shard, member, again, goal) : [again];
  });
}

/** What goes before the last node of the old version does, and what is said of it, where it can not come back. */
function draftLast(
  { shard }: ShardMembers,
  { pod, ready }: Member,
  again: Draft,
  goal: ShardGoal,
): readonly Draft[] {
  if (goal.back || readsDataOf(goal.from, goal.tag)) return [again];
  const reason = `${pod} is the last node of shard ${shard} on ${goal.from}: its data is kept as it is`;
  return [
    // A server that does not run can save nothing, and one without a volume nothing that stays.
    ...(ready && !goal.withoutVolumes ? [{ kind: 'Snapshot' as const, shard, pod, reason }] : []),
    {
      ...again,
      irreversible: true,
      reason: `${again.reason}; the point of no return: ${goal.from} can not read what ${goal.tag} writes`,
    },
  ];
}

/** Who takes over: a replica that stays, and only where there is none the one that is there for the time being. */
function selectHeir(
  shard: ShardMembers,
  goal: ShardGoal,
  pods: number,
): { readonly pod: string; readonly why: string; readonly leaves: boolean } | null {
  const staying = shard.replicas.filter((member) => member.ordinal < goal.pods);
  const best = selectCandidate(nodesOf(staying), shard.master?.node ?? null);
  if (best !== null) return { pod: best.node.pod, why: best.why, leaves: false };
  if (pods <= goal.pods || shard.master === null) return null;
  const pod = shard.master.pod.replace(/\d+$/, String(goal.pods));
  return { pod, why: 'the only replica, added for the time being', leaves: true };
}

/** The old master hands over, and only then its own pod goes. */
function draftMaster(
  shard: ShardMembers,
  goal: ShardGoal,
  heir: ReturnType<typeof selectHeir>,
): readonly Draft[] {
  const { master } = shard;
  if (master === null || master.tag === goal.tag) return [];
  if (heir === null) return [restart(shard, master.pod, `the only node of shard ${shard.shard}`, goal)];
  // One that is there for the time being only leaves, and needs no other version.
  if (master.ordinal >= goal.pods) return [handOver(shard, master.pod, heir.pod, heir.why)];
  const again = restart(shard, master.pod, `a replica of shard ${shard.shard} by now`, goal);
  return [handOver(shard, master.pod, heir.pod, heir.why), ...draftLast(shard, master, again, goal)];
}

/** Who is there for the time being does not keep the shard. */
function draftHandBack(
  shard: ShardMembers,
  goal: ShardGoal,
  heir: ReturnType<typeof selectHeir>,
): readonly Draft[] {
  const { master } = shard;
  if (master === null) return [];
  if (master.tag !== goal.tag && heir?.leaves === true)
    return [handOver(shard, heir.pod, master.pod, `it stays, and ${heir.pod} leaves`)];
  if (master.tag === goal.tag && master.ordinal >= goal.pods && heir !== null)
    return [handOver(shard, master.pod, heir.pod, `it stays, and ${master.pod} leaves`)];
  return [];
}

const draftShrinking = (shard: ShardMembers, goal: ShardGoal, pods: number): readonly Draft[] =>
  pods <= goal.pods
    ? []
    : [
        {
          kind: 'RemoveReplica',
          shard: shard.shard,
          pods: goal.pods,
          reason: `shard ${shard.shard} needs its replica for the time being no longer`,
        },
      ];

const handOver = (shard: ShardMembers, from: string, to: string, why: string): Draft => ({
  kind: 'HandOver',
  shard: shard.shard,
  from,
  to,
  reason: `${to} takes over shard ${shard.shard} from ${from}: ${why}`,
});

function restart(shard: ShardMembers, pod: string, what: string, goal: ShardGoal): Draft {
  // A volume on which no server of the other version has run is as its own version left it.
  const started = allMembers(shard).find((member) => member.pod === pod)?.started !== false;
  const fresh = goal.fresh && started;
  return {
    kind: 'RestartPod',
    shard: shard.shard,
    pod,
    ...(fresh ? { fresh: true as const } : {}),
    reason: `${pod} comes back with ${goal.tag}; it is ${what}${fresh ? ', and begins with an empty volume' : ''}`,
  };
}
