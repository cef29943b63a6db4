import { failure } from '../../workflows/shared/failures.ts';
import { withMember, type Member, type ValkeyClients } from './access.ts';
import type { ValkeyActivities } from './contract.ts';
import { classify } from './errors.ts';
import { countSlots, formatRanges, intersectRanges, subtractRanges } from './slots.ts';
import { readView, type View } from './view.ts';

type Input = Parameters<ValkeyActivities['assignValkeySlots']>[0];

/** In larger clusters the introductions would outnumber what gossip sends anyway. */
const TELL_AT_MOST = 100;

/** Assigns what the server does not serve yet; slots that it has already count as assigned. */
export function assignSlots(
  clients: ValkeyClients,
  { access, server, ranges }: Input,
): Promise<{ readonly assigned: number }> {
  return withMember(clients, access, server, async (member) => {
    const view = await readView(member);
    if (view.self.role !== 'master')
      throw failure('ValkeySlotBusy', `${server.pod} is a replica: it cannot serve slots`);
    const wanted = subtractRanges(ranges, view.self.slots);
    if (wanted.length > 0) {
      refuseServed(view, wanted);
      await addSlots(member, wanted);
      await tellMembers(member, view);
    }
    const served = intersectRanges(ranges, (await readView(member)).self.slots);
    return { assigned: countSlots(served) };
  });
}

function refuseServed(view: View, wanted: ReturnType<typeof subtractRanges>): void {
  for (const node of view.members) {
    const taken = intersectRanges(wanted, node.slots);
    if (taken.length > 0)
      throw failure('ValkeySlotBusy', `slots ${formatRanges(taken)} are served by ${node.id} at ${node.ip}`);
  }
}

/**
 * Gossip would carry the news within half the node timeout, one random node each second. An introduction carries
 * them at once, and a node that knows us already only takes the news from it.
 */
async function tellMembers(member: Member, view: View): Promise<void> {
  const others = view.members.filter((node) => !node.myself && node.connected && !node.noAddress);
  if (others.length > TELL_AT_MOST) return;
  await Promise.all(others.map((node) => member.tell('CLUSTER', 'MEET', node.ip, String(node.port))));
}

async function addSlots(member: Member, wanted: ReturnType<typeof subtractRanges>): Promise<void> {
  try {
    await member.tell('CLUSTER', 'ADDSLOTSRANGE', ...wanted.flat().map(String));
  } catch (error) {
    if (classify(error) !== 'ValkeySlotBusy') throw error;
    // Another attempt of ours was faster, or another node owns them: the server's own table tells which.
    const left = subtractRanges(wanted, (await readView(member)).self.slots);
    if (left.length > 0)
      throw failure('ValkeySlotBusy', `slots ${formatRanges(left)} got another owner meanwhile`);
  }
}
