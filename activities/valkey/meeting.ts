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

/**
 * Who must still be introduced to whom, by index, in both directions; and how many do not see each other yet, or are
 * still shaking hands although they do.
 */
export function planMeetings(seen: readonly { readonly server: ValkeyServer; readonly view: View }[]): {
  readonly meet: readonly (readonly [from: number, to: number])[];
  readonly missing: number;
} {
  const meet: [number, number][] = [];
  let missing = 0;
  for (const [from, { view }] of seen.entries()) {
    for (const [to, other] of seen.entries()) {
      if (from === to) continue;
      const known = knows(view, other.view.self.id, other.server);
      if (known && !view.handshakes.includes(other.server.ip)) continue;
      missing += 1;
      if (!known && areNeighbours(from, to, seen.length)) meet.push([from, to]);
    }
  }
  return { meet, missing };
}

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
