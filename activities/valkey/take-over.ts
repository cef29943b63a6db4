import { failure } from '../../workflows/shared/failures.ts';
import { pollUntil } from '../polling.ts';
import { withMember, type ValkeyClients } from './access.ts';
import type { ValkeyActivities } from './contract.ts';
import { countSlots } from './slots.ts';
import { readView, type View } from './view.ts';

type Input = Parameters<ValkeyActivities['takeOverValkeyMaster']>[0];

const LOOK_EVERY_MS = 50;
/** A replica gives up a forced election after five seconds. */
const ELECTION_MS = 6_000;

/** Makes a replica lead its shard without a vote; one that leads already is success, one whose master is back refuses. */
export function takeOver(
  clients: ValkeyClients,
  { access, server }: Input,
): Promise<{ readonly slots: number; readonly epoch: number }> {
  return withMember(clients, access, server, async (member) => {
    const before = await readView(member);
    if (before.self.role !== 'master') {
      refuseNeedless(before);
      await member.tell('CLUSTER', 'FAILOVER', 'TAKEOVER');
    }
    return pollUntil(LOOK_EVERY_MS, async () => {
      const view = await readView(member);
      return leads(view) ?? { waiting: `${view.pod} is taking over` };
    });
  });
}

/** Has a replica ask for the votes of the other masters, again and again: one that leads already is success. */
export function elect(clients: ValkeyClients, { access, server }: Input): ReturnType<typeof takeOver> {
  return withMember(clients, access, server, async (member) => {
    let askedMs = -ELECTION_MS;
    return pollUntil(LOOK_EVERY_MS, async () => {
      const view = await readView(member);
      const done = leads(view);
      if (done !== null) return done;
      if (view.self.role !== 'master' && performance.now() - askedMs >= ELECTION_MS) {
        refuseReachable(view);
        await member.tell('CLUSTER', 'FAILOVER', 'FORCE');
        askedMs = performance.now();
      }
      return { waiting: `${view.pod} waits for the votes of a majority of masters` };
    });
  });
}

const leads = ({ self }: View): { readonly done: Awaited<ReturnType<typeof takeOver>> } | null =>
  self.role === 'master' && self.slots.length > 0
    ? { done: { slots: countSlots(self.slots), epoch: self.configEpoch } }
    : null;

/** While its master can be reached, or a majority could vote, nobody takes over without being elected. */
function refuseNeedless(view: View): void {
  const { masters, reachable } = refuseReachable(view);
  if (reachable.length * 2 > masters.length)
    throw failure('ValkeyPodReplaced', `${view.pod} is not to take over: a majority of masters can elect it`);
}

function refuseReachable({ self, pod, members }: View): {
  readonly masters: View['members'];
  readonly reachable: View['members'];
} {
  const masters = members.filter((node) => node.role === 'master' && node.slots.length > 0);
  const reachable = masters.filter((node) => node.failing === 'no' && node.connected);
  if (reachable.some((node) => node.id === self.masterId))
    throw failure('ValkeyPodReplaced', `${pod} is not to take over: its master is back`);
  return { masters, reachable };
}
