import type { ValkeyServer } from './contract.ts';
import type { View } from './view.ts';

/** Up to so many servers each is introduced to each; in larger clusters gossip carries the rest. */
const FULL_MESH = 24;
const NEIGHBOURS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** Servers that know nobody and have never had an epoch, each with one that no other has. */
export function planEpochs(views: readonly View[]): readonly (readonly [at: number, epoch: number])[] {
  let epoch = Math.max(0, ...views.flatMap((view) => [view.state.currentEpoch, view.self.configEpoch]));
  return views.flatMap((view, at): [number, number][] => (isFresh(view) ? [[at, (epoch += 1)]] : []));
}

const isFresh = (view: View): boolean =>
  view.self.role === 'master' &&
  view.self.configEpoch === 0 &&
  view.state.currentEpoch === 0 &&
  view.members.length === 1 &&
  view.handshakes.length === 0;

/** One server, where it is and what it says. */
interface Seen {
  readonly server: ValkeyServer;
  readonly view: View;
}

/** Who must be introduced to whom next, by index; and how many do not see each other yet, or still shake hands. */
interface Meetings {
  readonly meet: readonly (readonly [from: number, to: number])[];
  readonly missing: number;
  /** Only those who have a vote, until they are at peace. */
  readonly among: 'voters' | 'all';
}

/**
 * Masters that serve slots come first, and the others only when no such master is called failed any more. A replica that
 * meets them before would be elected in the place of a master that is back, although it may have restarted with less.
 */
export function planMeetings(seen: readonly Seen[]): Meetings {
  const all = [...seen.keys()];
  const everybody = acquaint(seen, all);
  const voters = all.filter((at) => isVoter(seen[at]));
  const first = acquaint(seen, voters);
  const peace = first.missing === 0 && !voters.some((at) => voters.some((of) => blames(seen[at], seen[of])));
  if (peace || everybody.missing === 0) return { ...everybody, among: 'all' };
  return { meet: first.meet, missing: everybody.missing, among: 'voters' };
}

function acquaint(seen: readonly Seen[], who: readonly number[]): Pick<Meetings, 'meet' | 'missing'> {
  const meet: [number, number][] = [];
  let missing = 0;
  for (const [rank, from] of who.entries()) {
    for (const [otherRank, to] of who.entries()) {
      const [one, other] = [seen[from], seen[to]];
      if (from === to || one === undefined || other === undefined) continue;
      const known = knows(one.view, other.view.self.id, other.server);
      if (known && !one.view.handshakes.includes(other.server.ip)) continue;
      missing += 1;
      if (!known && areNeighbours(rank, otherRank, who.length)) meet.push([from, to]);
    }
  }
  return { meet, missing };
}

const isVoter = (one: Seen | undefined): boolean =>
  one !== undefined && one.view.self.role === 'master' && one.view.self.slots.length > 0;

const blames = (one: Seen | undefined, other: Seen | undefined): boolean =>
  one?.view.members.some((node) => node.id === other?.view.self.id && node.failing !== 'no') ?? false;

/** By its id, at its present address, and with a link that is up. A verdict of failure then withdraws itself in its time. */
function knows(view: View, id: string, server: ValkeyServer): boolean {
  const known = view.members.find((node) => node.id === id);
  return known !== undefined && known.connected && known.ip === server.ip;
}

const areNeighbours = (a: number, b: number, count: number): boolean =>
  count <= FULL_MESH || NEIGHBOURS.some((step) => (a + step) % count === b || (b + step) % count === a);

/**
 * The pods of all but the largest group when more than one group of servers, none of which knows the others, serves
 * slots; null when they are one cluster.
 */
export function strangersOf(views: readonly View[]): readonly string[] | null {
  const groups: { ids: Set<string>; pods: string[]; slots: number }[] = [];
  for (const view of views) {
    const ids = new Set(view.members.map((node) => node.id));
    const slots = view.state.slotsAssigned;
    const own = groups.filter((group) => [...ids].some((id) => group.ids.has(id)));
    const merged = {
      ids: new Set([...ids, ...own.flatMap((group) => [...group.ids])]),
      pods: [...own.flatMap((group) => group.pods), view.pod],
      slots: Math.max(slots, ...own.map((group) => group.slots)),
    };
    groups.splice(0, groups.length, ...groups.filter((group) => !own.includes(group)), merged);
  }
  const serving = groups.filter((group) => group.slots > 0).sort((a, b) => b.pods.length - a.pods.length);
  return serving.length < 2 ? null : serving.slice(1).flatMap((group) => group.pods);
}
