import { pollUntil } from '../polling.ts';
import { withMembers, type Member, type ValkeyClients } from './access.ts';
import type { ValkeyActivities } from './contract.ts';
import { ValkeyError } from './errors.ts';
import { closeOpenSlots } from './open-slots.ts';
import { isRunning, readSlotJobs } from './slot-jobs.ts';
import { seeAll } from './view.ts';

type Input = Parameters<ValkeyActivities['cancelValkeyMigrations']>[0];

const LOOK_EVERY_MS = 50;

/** Ends what moves, so that every slot is wholly where it is served. */
export function cancelMigrations(
  clients: ValkeyClients,
  { access, source, servers, ranges }: Input,
): Promise<{ readonly cancelled: number; readonly closed: number }> {
  const others = servers.filter((server) => server.pod !== source.pod);
  return withMembers(clients, access, [source, ...others], async (members) => {
    const [from] = members;
    if (from === undefined) throw new Error('a move has a source');
    const cancelled = await cancelJobs(from);
    const seen = await seeAll(members);
    const sourceId = seen[0]?.view.self.id ?? '';
    const within = ranges === undefined ? {} : { within: ranges };
    const closed = await closeOpenSlots({ seen, sourceId, ...within });
    return { cancelled, closed };
  });
}

/** The server knows one word for all its jobs: whoever moves slots from here beside us is being ended too. */
async function cancelJobs(source: Member): Promise<number> {
  const running = async (): Promise<number> =>
    ((await readSlotJobs(source)) ?? []).filter((job) => job.operation === 'EXPORT' && isRunning(job)).length;
  const count = await running();
  if (count === 0) return 0;
  try {
    await source.tell('CLUSTER', 'CANCELSLOTMIGRATIONS');
  } catch (error) {
    // They may have come to their end between the look and the word.
    if (!(error instanceof ValkeyError) || !/No migrations ongoing/.test(error.message)) throw error;
  }
  await pollUntil(LOOK_EVERY_MS, async () => {
    const left = await running();
    return left === 0 ? { done: null } : { waiting: `${left} jobs are ending` };
  });
  return count;
}
