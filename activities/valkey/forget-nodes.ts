import { failure } from '../../workflows/shared/failures.ts';
import { pollUntil } from '../polling.ts';
import { withMembers, type Member, type ValkeyClients } from './access.ts';
import type { ValkeyActivities } from './contract.ts';
import { ValkeyError } from './errors.ts';
import { countSlots, SLOTS } from './slots.ts';
import { readView } from './view.ts';

type Input = Parameters<ValkeyActivities['forgetValkeyNodes']>[0];

const LOOK_EVERY_MS = 100;

/** Resets those that leave, then makes all that stay forget them, until none remembers any. */
export async function forgetNodes(
  clients: ValkeyClients,
  { access, servers, leaving, nodeIds }: Input,
): Promise<{ readonly forgotten: number }> {
  await withMembers(clients, access, leaving, (members) =>
    Promise.all(members.map((member) => reset(member, nodeIds))),
  );
  return withMembers(clients, access, servers, (members) =>
    pollUntil(LOOK_EVERY_MS, async () => {
      const known = await Promise.all(members.map((member) => forget(member, nodeIds)));
      const remembering = known.filter((count) => count > 0).length;
      if (remembering === 0) return { done: { forgotten: nodeIds.length } };
      return { waiting: `${remembering} of ${members.length} nodes still knew who leaves` };
    }),
  );
}

/**
 * Empties a master that serves nothing, in one breath with the look at it: a script runs alone on its server, so no
 * slot can arrive in between. What lies in such a master although others serve all slots, no client can reach any more;
 * the server itself drops it too, in its own time. A replica, and a master with a slot or an import, is left alone.
 */
const EMPTY_UNSERVING = `
for line in string.gmatch(redis.call('CLUSTER', 'NODES'), '[^\\n]+') do
  local flags, slots = string.match(line, '^%S+ %S+ (%S+) %S+ %S+ %S+ %S+ %S+(.*)$')
  if string.find(flags, 'myself', 1, true) then
    if not string.find(flags, 'master', 1, true) then return 'is a replica' end
    if string.find(slots, '%S') then return 'serves slots, or imports some' end
  end
end
local info = redis.call('CLUSTER', 'INFO')
if not string.find(info, 'cluster_slots_assigned:${SLOTS}', 1, true) then return 'knows slots that nobody serves' end
redis.call('FLUSHALL')
return 'empty'
`;

/** Gives a node that leaves another identity and no acquaintances, so that neither gossip nor its volume brings it back. */
async function reset(member: Member, nodeIds: readonly string[]): Promise<void> {
  const { self } = await readView(member);
  if (!nodeIds.includes(self.id)) return; // It was reset already.
  refuseSlots(member, countSlots(self.slots));
  // A replica drops its copy with the role; a master must be empty to be reset, and refuses otherwise.
  if (self.role === 'master' && (await member.ask('DBSIZE')) !== '0') {
    const answer = await member.tell('EVAL', EMPTY_UNSERVING, '0');
    if (answer !== 'empty')
      throw failure('ValkeySlotBusy', `${member.server.pod} was to leave with keys in it, and ${answer}`);
  }
  await member.tell('CLUSTER', 'RESET', 'HARD');
}

/** Answers how many of them it still knew. */
async function forget(member: Member, nodeIds: readonly string[]): Promise<number> {
  const { members } = await readView(member);
  const known = members.filter((node) => nodeIds.includes(node.id) && !node.myself);
  for (const node of known) {
    refuseSlots(member, countSlots(node.slots));
    try {
      await member.tell('CLUSTER', 'FORGET', node.id);
    } catch (error) {
      // It may have been forgotten between the look and the word.
      if (!(error instanceof ValkeyError) || !/Unknown node/.test(error.message)) throw error;
    }
  }
  return known.length;
}

/** A node that serves slots is never let go: its keys would go with it. */
function refuseSlots(member: Member, slots: number): void {
  if (slots === 0) return;
  throw failure('ValkeySlotBusy', `${member.server.pod} says that who leaves still serves ${slots} slots`);
}
