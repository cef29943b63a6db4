import type { PlanContext } from './plan.ts';
import type { Stage } from './stages.ts';
import { count, keptNodes, nameShards } from './topology.ts';
import { countSlots } from './slots.ts';

/** Shards whose StatefulSet must be created, grown, or brought to the newest template. */
export function growingShards(context: PlanContext, stale: readonly number[]): readonly number[] {
  const { wanted, staying, pods } = context;
  const has = (shard: number): number => staying.find((view) => view.shard === shard)?.pods ?? 0;
  return wanted.filter((shard) => has(shard) < pods || stale.includes(shard) || isUnapplied(context, shard));
}

/** Shards in which nodes that stay are still to come, or back. */
export function waitingShards({ wanted, staying, pods }: PlanContext): readonly number[] {
  const ready = (shard: number): number => {
    const view = staying.find((one) => one.shard === shard);
    return view === undefined ? 0 : keptNodes(view, pods).filter((node) => node.ready).length;
  };
  return wanted.filter((shard) => ready(shard) < pods);
}

/** A StatefulSet of which nobody looked at the annotation is left alone. */
function isUnapplied({ topology, wish }: PlanContext, shard: number): boolean {
  const set = topology.shards?.find((one) => one.shard === shard);
  return (
    wish.appliedHash !== undefined && set?.appliedHash !== undefined && set.appliedHash !== wish.appliedHash
  );
}

/** The StatefulSets, in one stage. */
export function draftGrowth(context: PlanContext, growing: readonly number[]): Stage {
  const { staying, pods, wish } = context;
  return growing.map((shard) => {
    const has = staying.find((view) => view.shard === shard)?.pods ?? 0;
    const reason =
      has === 0
        ? `shard ${shard} is new: a master and ${count(wish.replicasPerMaster, 'replica')}`
        : has < pods
          ? `shard ${shard} grows from ${has} to ${count(pods, 'pod')}`
          : `the StatefulSet of shard ${shard}, and what all share, must follow the changed spec; its servers get what they can take without a restart`;
    return { kind: 'CreateShard', shard, pods: Math.max(has, pods), reason };
  });
}

/** The wait for pods, and then the introduction of their nodes to all others. */
export function draftJoining(context: PlanContext, waiting: readonly number[]): readonly Stage[] {
  const { pods, staying } = context;
  const meeting = meetingShards(context, waiting);
  const has = (shard: number): number => staying.find((view) => view.shard === shard)?.pods ?? 0;
  const awaited = waiting.reduce((sum, shard) => sum + Math.max(pods, has(shard)), 0);
  return [
    waiting.length === 0
      ? []
      : [
          {
            kind: 'AwaitPods',
            shards: waiting,
            pods: awaited,
            reason: `${count(awaited, 'pod')} of ${nameShards(waiting)} must be Ready`,
          },
        ],
    meeting.length === 0
      ? []
      : [
          {
            kind: 'MeetNode',
            shards: meeting,
            reason: context.formed
              ? `the nodes of ${nameShards(meeting)} must know all others, and be known`
              : 'the nodes must know each other to be a cluster',
          },
        ],
  ];
}

/** Shards with a node that may not be a member yet; all of them when the nodes disagree about who is. */
function meetingShards(context: PlanContext, waiting: readonly number[]): readonly number[] {
  const { staying, wanted, formed, topology } = context;
  const { health } = topology;
  if (formed && health !== undefined && !(health.ok && health.viewsAgree)) return wanted;
  const unsettled = new Set(
    staying
      .filter(({ master, strays }) => strays.length > 0 || master === null || countSlots(master.slots) === 0)
      .map((view) => view.shard),
  );
  return wanted.filter((shard) => waiting.includes(shard) || unsettled.has(shard));
}
