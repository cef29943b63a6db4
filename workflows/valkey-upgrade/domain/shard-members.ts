import type { ValkeyNode, ValkeyPod } from '../../valkey-cluster/domain/observation.ts';
import { ordinalOf, viewShards, type ValkeyTopology } from '../../valkey-cluster/domain/topology.ts';
import { tagOf } from './resource.ts';

/** A pod of a shard with the node in it, as an upgrade sees it. */
export interface Member {
  readonly pod: string;
  readonly ordinal: number;
  /** The tag that it runs with; null when nobody knows. */
  readonly tag: string | null;
  readonly ready: boolean;
  /** Whether its server may have run, and written to its volume; without an image it can not have. */
  readonly started: boolean;
  /** Whether it leads, or follows the one that does. */
  readonly joined: boolean;
  readonly node: ValkeyNode | null;
}

/** One shard as an upgrade finds it. */
export interface ShardMembers {
  readonly shard: number;
  /** How many pods its StatefulSet makes, and with which tag the next one would start. */
  readonly pods: number;
  readonly tag: string | null;
  readonly master: Member | null;
  readonly replicas: readonly Member[];
}

/** Every shard with its members, by number. */
export function listShards(topology: ValkeyTopology): readonly ShardMembers[] {
  return viewShards(topology).map((view) => {
    const { shard, pods } = view;
    const set = topology.shards?.find((one) => one.shard === shard);
    const nodes = topology.nodes.filter((node) => node.shard === shard);
    const own = (topology.pods ?? []).filter((pod) => pod.shard === shard && !pod.terminating);
    const names = [...new Set([...own.map((pod) => pod.name), ...nodes.map((node) => node.pod)])];
    const members = names
      .map((name) =>
        memberOf(
          name,
          shard,
          own.find((pod) => pod.name === name),
          nodes.find((node) => node.pod === name),
        ),
      )
      .map((member) => ({ ...member, joined: member.node !== null && !view.strays.includes(member.node) }))
      .toSorted((a, b) => a.ordinal - b.ordinal);
    const isMaster = (member: Member): boolean => member.node !== null && member.node === view.master;
    const master = members.find(isMaster) ?? null;
    const tag = set === undefined ? (master?.tag ?? null) : tagOf(set.image);
    return { shard, pods, tag, master, replicas: members.filter((member) => !isMaster(member)) };
  });
}

/** All members of a shard, in the order of their pods. */
export const allMembers = ({ master, replicas }: ShardMembers): readonly Member[] =>
  [...(master === null ? [] : [master]), ...replicas].toSorted((a, b) => a.ordinal - b.ordinal);

const NO_IMAGE = /^(ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull)/;

/** Offline, where no pods were looked at, the version that a node names stands for its tag. */
function memberOf(
  name: string,
  shard: number,
  pod: ValkeyPod | undefined,
  node: ValkeyNode | undefined,
): Omit<Member, 'joined'> {
  const image = pod?.image ?? null;
  return {
    pod: name,
    ordinal: ordinalOf({ pod: name, shard }) ?? 0,
    tag: image === null ? (node?.version ?? null) : tagOf(image),
    ready: node?.ready === true && node.linkUp !== false,
    started: node !== undefined || !NO_IMAGE.test(pod?.waiting ?? ''),
    node: node ?? null,
  };
}
