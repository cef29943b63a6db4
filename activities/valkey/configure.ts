import { withMembers, type Member, type ValkeyClients } from './access.ts';
import type { ValkeyActivities } from './contract.ts';

type Input = Parameters<ValkeyActivities['configureValkeyServers']>[0];

/** Sets on each running server what it has otherwise; answers how many values were changed. */
export async function configure(
  clients: ValkeyClients,
  { access, servers, settings }: Input,
): Promise<{ readonly changed: number }> {
  return withMembers(clients, access, servers, async (members) => {
    const counts = await Promise.all(members.map((member) => configureOne(member, settings)));
    return { changed: counts.reduce((sum, count) => sum + count, 0) };
  });
}

async function configureOne(member: Member, settings: Input['settings']): Promise<number> {
  let changed = 0;
  for (const [directive, written] of settings) {
    // A file writes nothing as two quotes; a command has an empty word for it.
    const wanted = written === '""' ? '' : written;
    const [, value] = await member.askList('CONFIG', 'GET', directive);
    if (Buffer.isBuffer(value) && value.toString() === wanted) continue;
    await member.tell('CONFIG', 'SET', directive, wanted);
    changed += 1;
  }
  return changed;
}
