import { FAILURES } from '../../workflows/shared/failure-codes.ts';
import { failure } from '../../workflows/shared/failures.ts';
import { pollUntil } from '../polling.ts';
import { withMember, withMembers, type Member, type ValkeyClients } from './access.ts';
import type { ValkeyActivities } from './contract.ts';
import { classify, ValkeyError } from './errors.ts';
import { planEpochs, planMeetings, strangersOf } from './meeting.ts';
import { SLOTS } from './slots.ts';
import { readView, type View } from './view.ts';

type Input = Parameters<ValkeyActivities['meetValkeyNodes']>[0];

const LOOK_EVERY_MS = 50;
/** A handshake that got lost is begun again; one that is under way needs two turns of the server's own clock. */
const MEET_AGAIN_MS = 1_500;
/** A master refuses clients for as long as its node timeout, five seconds at most, after it has joined. */
const WRITABLE_WITHIN_MS = 10_000;

/** Makes all servers know each other; who does already is not disturbed. */
export async function meetNodes(
  clients: ValkeyClients,
  { access, servers, starting }: Input,
): Promise<{ readonly nodeIds: Record<string, string> }> {
  if (starting === true) await awaitAnswers(clients, access, servers);
  return withMembers(clients, access, servers, async (members) => {
    const before = await Promise.all(members.map(readView));
    refuseStrangers(before);
    await giveEpochs(members, before);
    let met = { atMs: 0, among: '' };
    const writableByMs = Date.now() + WRITABLE_WITHIN_MS;
    return pollUntil(LOOK_EVERY_MS, async () => {
      const views = await Promise.all(members.map(readView));
      const meetings = planMeetings(members.map(({ server }, at) => ({ server, view: viewAt(views, at) })));
      const refusing = Date.now() < writableByMs ? refusingMasters(views) : [];
      if (meetings.missing === 0 && refusing.length > 0)
        return { waiting: `all know each other; not taking writes yet: ${refusing.join(', ')}` };
      if (meetings.missing === 0)
        return { done: { nodeIds: Object.fromEntries(views.map((view) => [view.pod, view.self.id])) } };
      const { among } = meetings;
      if (Date.now() - met.atMs > MEET_AGAIN_MS || among !== met.among) {
        await Promise.all(
          meetings.meet.map(([from, to]) => meet(memberAt(members, from), memberAt(members, to))),
        );
        met = { atMs: Date.now(), among };
      }
      const pairs = members.length * (members.length - 1);
      const first = among === 'voters' ? '; masters first, until none is called failed' : '';
      return { waiting: `${pairs - meetings.missing} of ${pairs} acquaintances are made${first}` };
    });
  });
}

/** Waits until every server answers; a refusal that does not pass by itself ends the wait. */
function awaitAnswers(
  clients: ValkeyClients,
  access: Input['access'],
  servers: Input['servers'],
): Promise<null> {
  const answered = new Set<string>();
  return pollUntil(LOOK_EVERY_MS, async () => {
    const silent = servers.filter(({ pod }) => !answered.has(pod));
    await Promise.all(
      silent.map(async (server) => {
        try {
          await withMember(clients, access, server, readView);
        } catch (error) {
          if (!(error instanceof ValkeyError) || FAILURES[classify(error)].class !== 'transient') throw error;
          return;
        }
        answered.add(server.pod);
      }),
    );
    if (answered.size === servers.length) return { done: null };
    return { waiting: `${answered.size} of ${servers.length} servers answer` };
  });
}

/** New masters in a cluster that serves which would refuse clients if slots arrived now. */
const refusingMasters = (views: readonly View[]): readonly string[] =>
  views.some((view) => view.state.slotsAssigned === SLOTS)
    ? views
        .filter(({ self, state }) => self.role === 'master' && self.slots.length === 0 && !state.ok)
        .map(({ pod }) => pod)
    : [];

/** Two clusters that both serve slots must never be merged: one of them is somebody else's data. */
function refuseStrangers(views: readonly View[]): void {
  const strangers = strangersOf(views);
  if (strangers === null) return;
  throw failure(
    'ValkeyRefused',
    `${strangers.join(', ')} already belong to another cluster that serves slots: remove their volumes, or the pods`,
  );
}

/** Distinct epochs from the start spare the nodes the collisions that they would have to resolve one by one. */
const giveEpochs = (members: readonly Member[], views: readonly View[]): Promise<unknown> =>
  Promise.all(
    planEpochs(views).map(([at, epoch]) =>
      memberAt(members, at).tell('CLUSTER', 'SET-CONFIG-EPOCH', String(epoch)),
    ),
  );

const meet = (from: Member, to: Member): Promise<string> =>
  from.tell('CLUSTER', 'MEET', to.server.ip, String(to.server.port));

function memberAt(members: readonly Member[], at: number): Member {
  const member = members[at];
  if (member === undefined) throw new Error(`there is no member ${at}`);
  return member;
}

function viewAt(views: readonly View[], at: number): View {
  const view = views[at];
  if (view === undefined) throw new Error(`there is no view ${at}`);
  return view;
}
