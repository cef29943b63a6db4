import type { NodeCommand } from '../../../workflows/datamesh/domain/node-commands.ts';
import type { NodeConfig } from '../../../workflows/datamesh/domain/node-config.ts';

/** How a modelled node holds one peer. */
export interface ModelPeer {
  readonly remoteRead: boolean;
  readonly bitmap: boolean;
  readonly tiebreaker: boolean;
  /** `connect` was given. Before it a new peer has no slot in the metadata and counts nowhere. */
  readonly connecting: boolean;
  /** Deleted but not forgotten: the metadata slot stays and counts as missing. */
  readonly ghost: boolean;
}

/** All of a modelled node that commands change. */
export interface ModelNode {
  readonly up: boolean;
  readonly q: number;
  readonly qmr: number;
  readonly disk: boolean;
  readonly nonVoting: boolean;
  readonly peers: Readonly<Record<string, ModelPeer>>;
}

/** A node that has no resource: before it joins and after it left. */
export const ABSENT: ModelNode = { up: false, q: 32, qmr: 32, disk: false, nonVoting: false, peers: {} };

/** The node as a configuration leaves it at rest. */
export function restingNode(config: NodeConfig | undefined): ModelNode {
  if (config === undefined) return ABSENT;
  const peers = Object.fromEntries(
    Object.entries(config.peers).map(([name, view]) => [name, { ...view, connecting: true, ghost: false }]),
  );
  return { up: true, q: config.q, qmr: config.qmr, disk: config.disk, nonVoting: config.nonVoting, peers };
}

/** What one command does to the node that runs it. */
export function runCommand(node: ModelNode, command: NodeCommand): ModelNode {
  switch (command.do) {
    case 'join':
      return { ...ABSENT, up: true };
    case 'down':
      return ABSENT;
    case 'quorum':
      return { ...node, q: command.q, qmr: command.qmr };
    case 'new-peer':
      return withPeer(node, command.peer, {
        remoteRead: command.remoteRead,
        bitmap: true,
        tiebreaker: true,
        connecting: false,
        ghost: false,
      });
    case 'bitmap':
      return withPeer(node, command.peer, { bitmap: command.keep });
    case 'tiebreaker':
      return withPeer(node, command.peer, { tiebreaker: command.counts });
    case 'remote-read':
      return withPeer(node, command.peer, { remoteRead: command.allow });
    case 'connect':
      return withPeer(node, command.peer, { connecting: true });
    case 'disconnect':
      return withPeer(node, command.peer, { connecting: false });
    case 'del-peer':
      return withPeer(node, command.peer, {
        connecting: false,
        ghost: true,
        remoteRead: true,
        tiebreaker: true,
      });
    case 'forget-peer': {
      const { [command.peer]: _gone, ...peers } = node.peers;
      return { ...node, peers };
    }
    case 'attach':
      return { ...node, disk: true };
    case 'detach':
      return { ...node, disk: false, nonVoting: false };
    case 'non-voting':
      return { ...node, nonVoting: command.on };
    case 'new-path':
    case 'create-md':
    case 'new-current-uuid':
      return node;
  }
}

function withPeer(node: ModelNode, name: string, change: Partial<ModelPeer>): ModelNode {
  const old = node.peers[name] ?? {
    remoteRead: true,
    bitmap: true,
    tiebreaker: true,
    connecting: false,
    ghost: false,
  };
  return { ...node, peers: { ...node.peers, [name]: { ...old, ...change } } };
}
