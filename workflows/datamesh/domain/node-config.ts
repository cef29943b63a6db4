import { KERNEL_FACTS, type Kernel } from './kernels.ts';
import { STATE_FACTS, type MemberState } from './member-states.ts';

/** The quorum of a node that has no vote: more than there can ever be. */
export const NO_VOTE = 32;

/** How one node sees one peer. */
export interface PeerView {
  readonly remoteRead: boolean;
  readonly bitmap: boolean;
  readonly tiebreaker: boolean;
}

/** All of a node's DRBD configuration that membership decides. */
export interface NodeConfig {
  readonly q: number;
  readonly qmr: number;
  readonly disk: boolean;
  readonly nonVoting: boolean;
  readonly peers: Readonly<Record<string, PeerView>>;
}

/** A member as the others are told to see it, which for a moment may differ from what it is. */
export interface Presented {
  readonly name: string;
  readonly node: string;
  readonly state: MemberState;
  /** Another type in the peers' view: a voter shown as a tie-breaker, or a tie-breaker shown as a client. */
  readonly shownAs?: 'TB' | 'A';
}

/** The members, q and qmr that a configuration is built from. */
export interface Mesh {
  readonly kernel: Kernel;
  readonly q: number;
  readonly qmr: number;
  readonly members: readonly Presented[];
}

function viewOf(kernel: Kernel, state: MemberState): PeerView {
  const facts = STATE_FACTS[state];
  const client = state === 'A' && KERNEL_FACTS[kernel].peerTiebreaker;
  return { remoteRead: facts.seen || client, bitmap: facts.bitmap, tiebreaker: !client };
}

/** Each member's configuration, by name. Star members connect to full-mesh members only. */
export function buildConfigs(mesh: Mesh): Readonly<Record<string, NodeConfig>> {
  const configs: Record<string, NodeConfig> = {};
  for (const member of mesh.members) {
    const facts = STATE_FACTS[member.state];
    const peers: Record<string, PeerView> = {};
    for (const peer of mesh.members) {
      if (peer.name === member.name) continue;
      if (!facts.fullMesh && !STATE_FACTS[peer.state].fullMesh) continue;
      peers[peer.name] = viewOf(mesh.kernel, peer.shownAs ?? peer.state);
    }
    configs[member.name] = {
      // Without its disk a voter counts for others, not for itself: it would break ties as its own tie-breaker.
      q: facts.voter && facts.disk ? mesh.q : NO_VOTE,
      qmr: mesh.qmr,
      disk: facts.disk,
      nonVoting: facts.disk && !facts.voter,
      peers,
    };
  }
  return configs;
}
