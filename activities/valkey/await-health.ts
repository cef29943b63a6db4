import { pollUntil, type Look } from '../polling.ts';
import { withMembers, type Member, type ValkeyClients } from './access.ts';
import type { ValkeyActivities } from './contract.ts';
import { parseInfo } from './info.ts';
import { SLOTS } from './slots.ts';
import { dissenters, readView, type View } from './view.ts';

type Input = Parameters<ValkeyActivities['awaitValkeyHealth']>[0];

const LOOK_EVERY_MS = 100;
const UNCHANGED_MS = 60_000;
/** Slots that nobody serves wait for an election, which takes a few times the node timeout, or for nothing at all. */
const UNSERVED_MS = 20_000;

/** Looks at all servers until nothing is missing; it changes nothing. */
export function awaitHealth(
  clients: ValkeyClients,
  { access, servers, masters, replicasPerMaster }: Input,
): ReturnType<ValkeyActivities['awaitValkeyHealth']> {
  return withMembers(clients, access, servers, (members) =>
    pollUntil(LOOK_EVERY_MS, lookForHealth(members, masters, replicasPerMaster)),
  );
}

function lookForHealth(
  members: readonly Member[],
  masters: number,
  replicasPerMaster: number,
): () => Promise<Look<Awaited<ReturnType<ValkeyActivities['awaitValkeyHealth']>>>> {
  let changed = { words: '', atMs: performance.now() };
  return async () => {
    const seen = await Promise.all(members.map(readHealth));
    const words = findMissing(seen, masters, replicasPerMaster).join('; ');
    const nodes = members.length;
    if (words === '') return { done: { slots: SLOTS, nodes, missing: null } };
    if (words !== changed.words) changed = { words, atMs: performance.now() };
    const unserved = seen.some(({ view }) => view.state.slotsAssigned < SLOTS || !view.state.ok);
    const patient = performance.now() - changed.atMs < (unserved ? UNSERVED_MS : UNCHANGED_MS);
    return patient ? { waiting: words } : { done: { slots: 0, nodes, missing: words } };
  };
}

/** A server's view, and whether its link to its master, if it has one, is up. */
export interface HealthSeen {
  readonly view: View;
  readonly linkUp: boolean;
}

/** Asks a server for its view and its link. */
export async function readHealth(member: Member): Promise<HealthSeen> {
  const [view, replication] = await Promise.all([readView(member), member.ask('INFO', 'replication')]);
  const info = parseInfo(replication);
  return { view, linkUp: info['role'] === 'master' || info['master_link_status'] === 'up' };
}

/** What still keeps the cluster from being healthy, in words; empty when nothing does. */
export function findMissing(
  seen: readonly HealthSeen[],
  masters: number,
  replicasPerMaster: number,
): readonly string[] {
  const views = seen.map((one) => one.view);
  const serving = views.filter((view) => view.self.role === 'master' && view.self.slots.length > 0);
  const short = serving.filter((view) => replicasOf(views, view.self.id) !== replicasPerMaster);
  const dissent = dissenters(views);
  const failing = views.filter((view) => view.members.some((node) => node.failing !== 'no'));
  const notOk = views.filter((view) => !view.state.ok);
  const down = seen.filter((one) => !one.linkUp).map((one) => one.view);
  const fewest = Math.min(SLOTS, ...views.map((view) => view.state.slotsAssigned));
  return [
    ...(serving.length === masters ? [] : [`${serving.length} of ${masters} masters serve slots`]),
    ...(fewest === SLOTS ? [] : [`${fewest} of ${SLOTS} slots are known to all`]),
    ...(short.length === 0 ? [] : [`without all replicas: ${pods(short)}`]),
    ...(down.length === 0 ? [] : [`without a link to the master: ${pods(down)}`]),
    ...(notOk.length === 0 ? [] : [`the state is not ok at ${pods(notOk)}`]),
    ...(failing.length === 0 ? [] : [`a member seems to fail to ${pods(failing)}`]),
    ...(dissent.length === 0 ? [] : [`another view has ${named(dissent)}`]),
  ];
}

const replicasOf = (views: readonly View[], masterId: string): number =>
  views.filter((view) => view.self.role === 'replica' && view.self.masterId === masterId).length;

const pods = (views: readonly View[]): string => named(views.map((view) => view.pod));

/** A few names, short enough to read. */
const named = (names: readonly string[]): string =>
  names.length <= 4 ? names.join(', ') : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`;
