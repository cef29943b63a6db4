import type {
  ValkeyHealth,
  ValkeyNode,
  ValkeyOrphan,
  ValkeyPod,
} from '../../workflows/valkey-cluster/domain/observation.ts';
import type { ClusterNode } from './cluster-nodes.ts';
import type { ServerInfo } from './info.ts';
import { bestView, dissenters, type View } from './view.ts';

/** What came back from one pod's server. */
export type Answer =
  | {
      readonly pod: string;
      readonly view: View;
      readonly info: ServerInfo;
      /** It was opened with an older password than the Secret's. */
      readonly lacksPassword: boolean;
    }
  | { readonly pod: string; readonly why: string };

/** Which pod is which node, what role it has, which slots it serves, and who is a member without a pod. */
export interface Topology {
  readonly pods: readonly ValkeyPod[];
  readonly nodes: readonly ValkeyNode[];
  readonly orphans: readonly ValkeyOrphan[];
  readonly health: ValkeyHealth;
}

/** Puts pods and answers together. A pod is its node by what its server says of itself, else by its address. */
export function buildTopology(
  pods: readonly Omit<ValkeyPod, 'nodeId'>[],
  answers: readonly Answer[],
): Topology {
  const views = answers.flatMap((answer) => ('view' in answer ? [answer.view] : []));
  const best = bestView(views);
  const answered = new Set(views.map((view) => view.self.id));
  const nodes = pods.flatMap((pod): ValkeyNode[] => {
    const answer = answers.find((one) => one.pod === pod.name);
    if (answer !== undefined && 'view' in answer) return [speakingNode(pod, answer.view.self, answer.info)];
    const silent = best?.members.find((node) => !answered.has(node.id) && isAt(node, pod.ip));
    return silent === undefined ? [] : [silentNode(pod, silent)];
  });
  return {
    pods: pods.map((pod) => ({ ...pod, nodeId: nodes.find((node) => node.pod === pod.name)?.id ?? null })),
    nodes,
    orphans: buildOrphans(views, new Set(nodes.map((node) => node.id))),
    health: {
      ok: views.length > 0 && views.every((view) => view.state.ok),
      slotsAssigned: best?.state.slotsAssigned ?? 0,
      viewsAgree: views.length > 0 && dissenters(views).length === 0,
      answered: views.length,
      unreachable: answers.flatMap((answer) => ('why' in answer ? [answer] : [])),
      apart: findApart(views, pods),
    },
  };
}

const isReachable = (node: ClusterNode): boolean =>
  node.myself || (node.connected && node.failing === 'no' && !node.noAddress);

/** Pods of servers that answered and that another one does not know, cannot reach, or looks for at an old address. */
const findApart = (views: readonly View[], pods: readonly PodFacts[]): readonly string[] =>
  views
    .filter(({ pod, self }) => {
      const ip = pods.find((one) => one.name === pod)?.ip ?? null;
      return views.some(({ members }) => {
        const known = members.find((node) => node.id === self.id);
        return known === undefined || !isReachable(known) || (!known.myself && !isAt(known, ip));
      });
    })
    .map(({ pod }) => pod);

const isAt = (node: ClusterNode, ip: string | null): boolean =>
  ip !== null && !node.noAddress && node.ip === ip;

type PodFacts = Omit<ValkeyPod, 'nodeId'>;

/** Also the zone of a pod that no node has yet is a text: plans compare zones. */
const placed = (pod: PodFacts): Pick<ValkeyNode, 'pod' | 'shard' | 'zone' | 'node'> => ({
  pod: pod.name,
  shard: pod.shard,
  zone: pod.zone ?? '',
  ...(pod.node === null ? {} : { node: pod.node }),
});

const known = (node: ClusterNode): Pick<ValkeyNode, 'id' | 'role' | 'masterId' | 'slots'> => ({
  id: node.id,
  role: node.role === 'replica' ? 'replica' : 'master',
  masterId: node.role === 'replica' ? node.masterId : null,
  slots: node.slots,
});

const speakingNode = (pod: PodFacts, self: ClusterNode, info: ServerInfo): ValkeyNode => ({
  ...known(self),
  ...placed(pod),
  ready: pod.ready,
  usedMemory: info.usedMemory,
  maxMemory: info.maxMemory,
  keys: info.keys,
  version: info.version,
  offset: info.offset,
  ...(info.linkUp === null ? {} : { linkUp: info.linkUp }),
  ...(self.openSlots.length === 0 ? {} : { openSlots: self.openSlots }),
});

/** Known to the others only, so never ready, whatever its pod's probe said last. */
const silentNode = (pod: PodFacts, node: ClusterNode): ValkeyNode => ({
  ...known(node),
  ...placed(pod),
  ready: false,
});

function buildOrphans(views: readonly View[], withPod: ReadonlySet<string>): readonly ValkeyOrphan[] {
  const orphans = new Map<string, ValkeyOrphan>();
  for (const node of views.flatMap((view) => view.members)) {
    if (withPod.has(node.id)) continue;
    const failed = node.failing === 'failed' || node.noAddress;
    const before = orphans.get(node.id);
    orphans.set(node.id, {
      id: node.id,
      address: before?.address ?? (node.ip === '' ? '' : `${node.ip}:${node.port}`),
      role: node.role === 'replica' ? 'replica' : 'master',
      slots: before !== undefined && before.slots.length > 0 ? before.slots : node.slots,
      failed: (before?.failed ?? false) || failed,
      unreachable: (before?.unreachable ?? true) && !isReachable(node),
    });
  }
  return [...orphans.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}
