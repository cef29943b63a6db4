import type { ValkeyNode } from './observation.ts';
import type { PlanContext } from './plan.ts';
import type { Draft, Stage } from './stages.ts';
import { count, keptNodes, membersOf, ordinalOf, type ShardView } from './topology.ts';

/** A smaller StatefulSet ends its highest pods: a master among them hands its shard over first. */
export function draftHandOvers(context: PlanContext): Stage {
  return shrinkingShards(context).flatMap((view): Draft[] => {
    if (view.master === null || keeps(context, view, view.master)) return [];
    const heir = selectHeir(context, view);
    return [
      {
        kind: 'HandOver',
        shard: view.shard,
        from: view.master.pod,
        to: heir,
        reason: `${view.master.pod} is the master of shard ${view.shard} and its pod goes: ${heir} takes over`,
      },
    ];
  });
}

/** Nodes that go must be forgotten by all that stay, or gossip brings them back. */
export function draftForgetting(context: PlanContext): Stage {
  const leaving = context.leaving.map((view): Draft | null => {
    const nodes = membersOf(view).map((node) => node.id);
    return forget(
      view.shard,
      nodes,
      `shard ${view.shard} leaves: no node may remember its ${count(nodes.length, 'node')}`,
    );
  });
  const shrinking = shrinkingShards(context).map((view): Draft | null => {
    const nodes = membersOf(view).filter((node) => !keeps(context, view, node));
    return forget(
      view.shard,
      nodes.map((node) => node.id),
      `${nodes.map((node) => node.pod).join(', ')} of shard ${view.shard} leaves: no node may remember it`,
    );
  });
  const lost = (context.topology.orphans ?? []).filter((orphan) => orphan.slots.length === 0);
  const orphans = forget(
    null,
    lost.map((orphan) => orphan.id),
    `${count(lost.length, 'member')} of the cluster has no pod any more and serves no slot`,
  );
  return [...leaving, ...shrinking, orphans].filter((draft) => draft !== null);
}

/** The pods themselves, and by the retention policy their volumes. */
export function draftRemoval(context: PlanContext): Stage {
  return [
    ...context.leaving.map(({ shard }): Draft => ({
      kind: 'RemoveShard',
      shard,
      irreversible: true,
      reason: `shard ${shard} serves nothing any more: its StatefulSet goes`,
    })),
    ...shrinkingShards(context).map(({ shard, pods }): Draft => ({
      kind: 'RemoveReplica',
      shard,
      pods: context.pods,
      irreversible: true,
      reason: `shard ${shard} shrinks from ${pods} to ${count(context.pods, 'pod')}`,
    })),
  ];
}

/** Shards that stay and have more pods than they are to have. While slots are served by nobody, none shrinks. */
const shrinkingShards = (context: PlanContext): readonly ShardView[] =>
  context.lacksSlots ? [] : context.staying.filter((view) => view.pods > context.pods);

const keeps = (context: PlanContext, view: ShardView, node: ValkeyNode): boolean =>
  keptNodes(view, context.pods).includes(node);

/** The pod that takes over: one that stays and already follows, or else the first that stays, once it does. */
function selectHeir(context: PlanContext, view: ShardView): string {
  const kept = keptNodes(view, context.pods);
  const heir =
    kept.find((node) => view.replicas.includes(node) && node.ready && node.linkUp !== false) ?? kept[0];
  if (heir !== undefined) return heir.pod;
  const taken = new Set(membersOf(view).map((node) => ordinalOf(node)));
  const free = Array.from({ length: context.pods }, (_, ordinal) => ordinal).find((one) => !taken.has(one));
  return (view.master?.pod ?? '').replace(/\d+$/, String(free ?? 0));
}

const forget = (shard: number | null, nodes: readonly string[], reason: string): Draft | null =>
  nodes.length === 0
    ? null
    : { kind: 'ForgetNode', shard, nodes: nodes.toSorted(), irreversible: true, reason };
