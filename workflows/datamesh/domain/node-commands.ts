import type { NodeConfig, PeerView } from './node-config.ts';

/** One command on one node; the model interprets what the renderer prints. */
export type NodeCommand =
  | { readonly do: 'join' }
  | { readonly do: 'down' }
  | { readonly do: 'quorum'; readonly q: number; readonly qmr: number }
  | { readonly do: 'new-peer'; readonly peer: string; readonly remoteRead: boolean }
  | { readonly do: 'new-path'; readonly peer: string }
  | { readonly do: 'bitmap'; readonly peer: string; readonly keep: boolean }
  | { readonly do: 'tiebreaker'; readonly peer: string; readonly counts: boolean }
  | { readonly do: 'remote-read'; readonly peer: string; readonly allow: boolean }
  | { readonly do: 'connect'; readonly peer: string }
  | { readonly do: 'disconnect'; readonly peer: string }
  | { readonly do: 'del-peer'; readonly peer: string }
  | { readonly do: 'forget-peer'; readonly peer: string }
  | { readonly do: 'create-md' }
  | { readonly do: 'attach' }
  | { readonly do: 'detach' }
  | { readonly do: 'non-voting'; readonly on: boolean }
  | { readonly do: 'new-current-uuid'; readonly clearBitmap: boolean };

/** Which comes first on a node when q and the visibility of a voter change together. */
export type CommandOrder = 'quorum-first' | 'visibility-first';

/**
 * The safe order for a change of voters. Raising sets q first and lowering hides first, so that no node ever
 * counts more voters than its q is for. Between one voter and two it is the other way round: the second
 * voter has no disk yet, or no more, so it can serve nothing alone, and the first must not stop.
 */
export function selectCommandOrder(votersBefore: number, votersAfter: number): CommandOrder {
  const raising = votersAfter > votersBefore;
  const small = Math.max(votersBefore, votersAfter) <= 2;
  return raising !== small ? 'quorum-first' : 'visibility-first';
}

/** The commands that lead one node from a configuration to the next; null stands for not being a member. */
export function buildCommands(
  before: NodeConfig | null,
  after: NodeConfig | null,
  order: CommandOrder,
): readonly NodeCommand[] {
  if (after === null) return [{ do: 'down' }];
  const quorum: NodeCommand[] =
    before?.q !== after.q || before.qmr !== after.qmr ? [{ do: 'quorum', q: after.q, qmr: after.qmr }] : [];
  const rest = [
    ...(before === null ? [{ do: 'join' } as const] : []),
    ...(before?.disk === true && !after.disk ? [{ do: 'detach' } as const] : []),
    ...buildPeerCommands(before?.peers ?? {}, after.peers),
    ...buildDiskCommands(before, after),
  ];
  // A node that gains its own vote counts only once it sees all, and one that loses it stops counting first: if it
  // serves, its writes pause until its disk is detached and it follows the quorum of its peers.
  if (before === null && after.disk) return [...disksFirst(rest), ...quorum];
  const own = before === null ? 'visibility-first' : ownOrder(before.q, after.q, order);
  return own === 'quorum-first' ? [...quorum, ...rest] : [...rest, ...quorum];
}

/** A node that joins with its disk attaches it before it connects, as drbdadm does. */
const disksFirst = (commands: readonly NodeCommand[]): readonly NodeCommand[] => [
  ...commands.filter((command) => command.do !== 'connect'),
  ...commands.filter((command) => command.do === 'connect'),
];

function ownOrder(before: number, after: number, order: CommandOrder): CommandOrder {
  if (before === 32 && after !== 32) return 'visibility-first';
  if (after === 32 && before !== 32) return 'quorum-first';
  return order;
}

function buildPeerCommands(
  before: Readonly<Record<string, PeerView>>,
  after: Readonly<Record<string, PeerView>>,
): readonly NodeCommand[] {
  const gone = Object.entries(before).filter(([peer]) => after[peer] === undefined);
  const kept = Object.entries(after).flatMap(([peer, view]) => {
    const old = before[peer];
    return old === undefined ? [] : changeView(peer, old, view);
  });
  const added = Object.entries(after).filter(([peer]) => before[peer] === undefined);
  return [
    ...gone.flatMap(([peer, view]) => removePeer(peer, view)),
    ...kept,
    ...added.flatMap(([peer, view]) => addPeer(peer, view)),
  ];
}

/**
 * A peer is hidden, then loses its bitmap, and only then is disconnected and deleted: a hidden one does not count as
 * missing when it is gone. One that is deleted but not yet forgotten does, even if it was never to be seen: as a voter
 * if it has a bitmap, else as a tie-breaker. DRBD has no command that deletes and forgets at once.
 */
const removePeer = (peer: string, view: PeerView): readonly NodeCommand[] => [
  ...(view.remoteRead && (view.bitmap || view.tiebreaker)
    ? [{ do: 'remote-read', peer, allow: false } as const]
    : []),
  ...(view.bitmap ? [{ do: 'bitmap', peer, keep: false } as const] : []),
  { do: 'disconnect', peer },
  { do: 'del-peer', peer },
  { do: 'forget-peer', peer },
];

/** The options stand before `connect`: a peer with default options would count as a voter. */
const addPeer = (peer: string, view: PeerView): readonly NodeCommand[] => [
  { do: 'new-peer', peer, remoteRead: view.remoteRead },
  { do: 'new-path', peer },
  { do: 'bitmap', peer, keep: view.bitmap },
  ...(view.tiebreaker ? [] : [{ do: 'tiebreaker', peer, counts: false } as const]),
  { do: 'connect', peer },
];

/**
 * A peer that ceases to be seen is hidden before its bitmap changes, and one that begins to be seen is shown after:
 * in between it counts as nothing, never as a voter or a tie-breaker that it neither was nor will be.
 */
function changeView(peer: string, before: PeerView, after: PeerView): readonly NodeCommand[] {
  const changed: NodeCommand[] = [];
  if (before.remoteRead && !after.remoteRead) changed.push({ do: 'remote-read', peer, allow: false });
  if (before.tiebreaker && !after.tiebreaker) changed.push({ do: 'tiebreaker', peer, counts: false });
  if (before.bitmap !== after.bitmap) changed.push({ do: 'bitmap', peer, keep: after.bitmap });
  if (!before.remoteRead && after.remoteRead) changed.push({ do: 'remote-read', peer, allow: true });
  if (!before.tiebreaker && after.tiebreaker) changed.push({ do: 'tiebreaker', peer, counts: true });
  return changed;
}

function buildDiskCommands(before: NodeConfig | null, after: NodeConfig): readonly NodeCommand[] {
  const attaches = after.disk && before?.disk !== true;
  const voting = after.disk && after.nonVoting !== (before?.nonVoting ?? false);
  return [
    ...(attaches ? [{ do: 'create-md' } as const, { do: 'attach' } as const] : []),
    ...(voting ? [{ do: 'non-voting', on: after.nonVoting } as const] : []),
  ];
}
