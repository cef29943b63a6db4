import type { ValkeyStep } from '../../../workflows/valkey-cluster/domain/commands.ts';
import type { SlotRange, ValkeyNode } from '../../../workflows/valkey-cluster/domain/observation.ts';
import {
  countDoubled,
  countSlots,
  joinRanges,
  missingRanges,
} from '../../../workflows/valkey-cluster/domain/slots.ts';
import { ordinalOf } from '../../../workflows/valkey-cluster/domain/topology.ts';

type Nodes = readonly ValkeyNode[];

/** A node that has just started: a master of nothing. */
export const freshNode = (shard: number, ordinal: number): ValkeyNode => ({
  id: `id-${shard}-${ordinal}`,
  pod: `cache-${shard}-${ordinal}`,
  shard,
  role: 'master',
  slots: [],
  zone: `zone-${(shard + ordinal) % 3}`,
  ready: true,
});

/** A whole shard: one master with these slots, the other pods its replicas. */
export function shardNodes(
  shard: number,
  ranges: readonly SlotRange[],
  replicas: number,
  masterOrdinal = 0,
): Nodes {
  return Array.from({ length: 1 + replicas }, (_, ordinal) => ({
    ...freshNode(shard, ordinal),
    ...(ordinal === masterOrdinal
      ? { slots: ranges }
      : { role: 'replica' as const, masterId: `id-${shard}-${masterOrdinal}` }),
  }));
}

/** A healthy cluster whose shards hold this many slots each, contiguously. */
export function clusterNodes(slotCounts: readonly number[], replicas: number, masterOrdinal = 0): Nodes {
  let next = 0;
  return slotCounts.flatMap((slotCount, shard) => {
    const ranges: SlotRange[] = slotCount === 0 ? [] : [[next, next + slotCount - 1]];
    next += slotCount;
    return shardNodes(shard, ranges, replicas, masterOrdinal);
  });
}

/** Slots by shard, in the order of the shards. */
export function slotCounts(nodes: Nodes): readonly number[] {
  const shards = [...new Set(nodes.map((node) => node.shard))].toSorted((a, b) => a - b);
  return shards.map((shard) =>
    countSlots(nodes.filter((node) => node.shard === shard).flatMap((node) => node.slots)),
  );
}

/** Does one step as the real world would, and refuses what the real world would refuse. */
export function perform(nodes: Nodes, step: ValkeyStep): Nodes {
  switch (step.kind) {
    case 'CreateShard':
      return [
        ...nodes,
        ...missingOrdinals(nodes, step.shard, step.pods).map((one) => freshNode(step.shard, one)),
      ];
    case 'AwaitPods':
      return step.shards.reduce<Nodes>(revive, nodes);
    case 'AssignSlots':
      return change(nodes, masterOf(nodes, step.shard), (node) => {
        refuseUnless(
          countSlots(missingRanges(nodes.flatMap((one) => one.slots))) >= step.slotCount,
          'a slot is already served',
        );
        return { slots: joinRanges([...node.slots, ...step.ranges]) };
      });
    case 'AttachReplica':
      return attach(nodes, step.shard);
    case 'MigrateSlots':
      return migrate(nodes, step);
    case 'HandOver':
      return handOver(nodes, step.from, step.to);
    case 'ForgetNode':
      for (const node of nodes.filter((one) => step.nodes.includes(one.id))) {
        refuseUnless(node.slots.length === 0, `${node.pod} still serves slots`);
      }
      return nodes;
    case 'RemoveReplica':
      return without(nodes, (node) => node.shard === step.shard && (ordinalOf(node) ?? 0) >= step.pods);
    case 'RemoveShard':
      return without(nodes, (node) => node.shard === step.shard);
    case 'MeetNode':
    case 'AddPassword':
    case 'DropPassword':
    case 'ApplyAcl':
    case 'RestartPod':
    case 'Snapshot':
    case 'VerifyHealth':
      return nodes;
  }
}

/** Fails unless no slot is served twice and, in a formed cluster, each is served once. */
export function checkSlots(nodes: Nodes, formed: boolean): void {
  const lists = nodes.map((node) => node.slots);
  refuseUnless(countDoubled(lists) === 0, 'a slot is served twice');
  if (formed) refuseUnless(missingRanges(lists.flat()).length === 0, 'a slot is served by nobody');
  refuseUnless(
    nodes.every((node) => node.role === 'master' || node.slots.length === 0),
    'a replica serves slots',
  );
}

function migrate(nodes: Nodes, step: Extract<ValkeyStep, { kind: 'MigrateSlots' }>): Nodes {
  const source = masterOf(nodes, step.from);
  refuseUnless(countSlots(step.ranges) === step.slotCount, 'the count is not that of the ranges');
  const left = remove(source.slots, step.ranges);
  refuseUnless(
    countSlots(left) === countSlots(source.slots) - step.slotCount,
    'the source does not serve the slots',
  );
  const given = change(nodes, source, () => ({ slots: left }));
  return change(given, masterOf(given, step.to), (node) => ({
    slots: joinRanges([...node.slots, ...step.ranges]),
  }));
}

function handOver(nodes: Nodes, from: string, to: string): Nodes {
  const old = nodes.find((node) => node.pod === from);
  const heir = nodes.find((node) => node.pod === to);
  refuseUnless(old?.role === 'master' && heir?.masterId === old.id, `${to} does not follow ${from}`);
  return nodes.map((node) => {
    if (node.pod === to) return { ...node, role: 'master', masterId: null, slots: old?.slots ?? [] };
    if (node.pod === from) return { ...node, role: 'replica', masterId: heir?.id ?? null, slots: [] };
    return node.masterId === old?.id ? { ...node, masterId: heir?.id ?? null } : node;
  });
}

function attach(nodes: Nodes, shard: number): Nodes {
  const master = masterOf(nodes, shard);
  return nodes.map((node) => {
    if (node.shard !== shard || node.id === master.id) return node;
    refuseUnless(node.slots.length === 0, `${node.pod} serves slots and can not become a replica`);
    const { linkUp: _, ...rest } = node;
    return { ...rest, role: 'replica', masterId: master.id };
  });
}

function masterOf(nodes: Nodes, shard: number): ValkeyNode {
  const own = nodes.filter((node) => node.shard === shard && node.role === 'master');
  const master =
    own.find((node) => node.slots.length > 0) ??
    own.find((node) => nodes.some((other) => other.masterId === node.id)) ??
    own[0];
  if (master === undefined) throw new Error(`shard ${shard} has no master`);
  return master;
}

const change = (nodes: Nodes, node: ValkeyNode, how: (node: ValkeyNode) => Partial<ValkeyNode>): Nodes =>
  nodes.map((one) => (one.id === node.id ? { ...one, ...how(one) } : one));

function without(nodes: Nodes, leaves: (node: ValkeyNode) => boolean): Nodes {
  for (const node of nodes.filter(leaves))
    refuseUnless(node.slots.length === 0, `${node.pod} still serves slots`);
  return nodes.filter((node) => !leaves(node));
}

/** The StatefulSet brings back what is missing below its highest pod, and everything becomes ready. */
function revive(nodes: Nodes, shard: number): Nodes {
  const own = nodes.filter((node) => node.shard === shard);
  const pods = Math.max(0, ...own.map((node) => 1 + (ordinalOf(node) ?? 0)));
  const back = missingOrdinals(nodes, shard, pods).map((ordinal) => freshNode(shard, ordinal));
  return [...nodes.map((node) => (node.shard === shard ? { ...node, ready: true } : node)), ...back];
}

function missingOrdinals(nodes: Nodes, shard: number, pods: number): readonly number[] {
  const has = new Set(nodes.filter((node) => node.shard === shard).map((node) => ordinalOf(node)));
  return Array.from({ length: pods }, (_, ordinal) => ordinal).filter((ordinal) => !has.has(ordinal));
}

function remove(ranges: readonly SlotRange[], taken: readonly SlotRange[]): readonly SlotRange[] {
  return taken.reduce<readonly SlotRange[]>(
    (left, [first, last]) =>
      left.flatMap(([low, high]): SlotRange[] => {
        if (last < low || first > high) return [[low, high]];
        const below: SlotRange[] = low < first ? [[low, first - 1]] : [];
        const above: SlotRange[] = high > last ? [[last + 1, high]] : [];
        return [...below, ...above];
      }),
    ranges,
  );
}

function refuseUnless(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(message);
}
