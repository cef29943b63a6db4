import { failure } from '../../workflows/shared/failures.ts';
import { pollUntil } from '../polling.ts';
import { withMember, type ValkeyClients } from './access.ts';
import type { ValkeyActivities } from './contract.ts';
import { countSlots } from './slots.ts';
import { readView, type View } from './view.ts';

type Input = Parameters<ValkeyActivities['takeOverValkeyMaster']>[0];

const LOOK_EVERY_MS = 50;

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
      const { self, pod } = await readView(member);
      return self.role === 'master' && self.slots.length > 0
        ? { done: { slots: countSlots(self.slots), epoch: self.configEpoch } }
        : { waiting: `${pod} is taking over` };
    });
  });
}

/** While its master can be reached, or a majority could vote, nobody takes over without being elected. */
function refuseNeedless({ self, pod, members }: View): void {
  const masters = members.filter((node) => node.role === 'master' && node.slots.length > 0);
  const reachable = masters.filter((node) => node.failing === 'no' && node.connected);
  if (reachable.some((node) => node.id === self.masterId))
    throw failure('ValkeyPodReplaced', `${pod} is not to take over: its master is back`);
  if (reachable.length * 2 > masters.length)
    throw failure('ValkeyPodReplaced', `${pod} is not to take over: a majority of masters can elect it`);
}
