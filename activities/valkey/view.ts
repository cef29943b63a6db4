import type { Member } from './access.ts';
import type { ValkeyConnection } from './client.ts';
import { parseClusterNodes, type ClusterNode } from './cluster-nodes.ts';
import { parseClusterState, type ClusterState } from './info.ts';
import { formatRanges } from './slots.ts';

/** What one server says of the cluster. */
export interface View {
  readonly pod: string;
  readonly self: ClusterNode;
  /** All that it knows, itself included; what is still shaking hands is not a member yet. */
  readonly members: readonly ClusterNode[];
  /** The addresses with which it is still shaking hands. */
  readonly handshakes: readonly string[];
  readonly state: ClusterState;
}

/** Builds a server's view from its answers. */
export function buildView(pod: string, nodesText: string, infoText: string): View {
  const nodes = parseClusterNodes(nodesText);
  const self = nodes.find((node) => node.myself);
  if (self === undefined) throw new Error(`${pod} does not list itself in CLUSTER NODES`);
  const members = nodes.filter((node) => !node.handshake);
  const handshakes = nodes.filter((node) => node.handshake).map((node) => node.ip);
  return { pod, self, members, handshakes, state: parseClusterState(infoText) };
}

/** Asks a server for its view. */
export async function readView(connection: ValkeyConnection): Promise<View> {
  const [nodes, info] = await Promise.all([
    connection.ask('CLUSTER', 'NODES'),
    connection.ask('CLUSTER', 'INFO'),
  ]);
  return buildView(connection.endpoint.pod, nodes, info);
}

/** A server, and what it said when it was looked at. */
export interface Seen {
  readonly member: Member;
  readonly view: View;
}

/** Looks at all servers at once. */
export const seeAll = (members: readonly Member[]): Promise<readonly Seen[]> =>
  Promise.all(members.map(async (member) => ({ member, view: await readView(member) })));

/** Members, roles and slots as one text, equal for views that agree. */
export const describeView = (view: View): string =>
  view.members
    .map((node) => `${node.id} ${node.role} ${node.masterId ?? '-'} ${formatRanges(node.slots)}`)
    .sort()
    .join('\n');

/** The view that knows most: of a formed cluster before that of a server which is still alone. */
export function bestView(views: readonly View[]): View | null {
  const sorted = views.toSorted(
    (a, b) =>
      b.state.slotsAssigned - a.state.slotsAssigned ||
      b.state.currentEpoch - a.state.currentEpoch ||
      b.members.length - a.members.length,
  );
  return sorted[0] ?? null;
}

/** The pods whose view is not that of the others, by the majority's view; empty when all agree. */
export function dissenters(views: readonly View[]): readonly string[] {
  const texts = views.map(describeView);
  const votes = (text: string): number => texts.filter((other) => other === text).length;
  const common = texts.toSorted((a, b) => votes(b) - votes(a))[0];
  return views.filter((_, at) => texts[at] !== common).map((view) => view.pod);
}
