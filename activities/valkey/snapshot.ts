import { failure } from '../../workflows/shared/failures.ts';
import { pollUntil } from '../polling.ts';
import { withMember, type Member, type ValkeyClients } from './access.ts';
import type { ValkeyActivities } from './contract.ts';
import { parseInfo } from './info.ts';

type Input = Parameters<ValkeyActivities['snapshotValkeyServer']>[0];

const LOOK_EVERY_MS = 200;
const SECOND_MS = 1_000;

/** Has a server save its data to its volume, and waits until the file is there. */
export function snapshot(
  clients: ValkeyClients,
  { access, server }: Input,
): Promise<{ readonly savedAt: number }> {
  return withMember(clients, access, server, async (member) => {
    // The server counts in whole seconds: a save of the second in which this began may be an older one.
    const afterSeconds = Math.floor(Date.now() / SECOND_MS);
    return pollUntil(LOOK_EVERY_MS, async () => {
      const info = await readPersistence(member);
      if (info.running) return { waiting: `${server.pod} is saving its data` };
      if (info.savedAt > afterSeconds) {
        if (!info.ok) throw failure('ValkeyBusy', `${server.pod} could not save its data`);
        return { done: { savedAt: info.savedAt } };
      }
      await member.tell('BGSAVE', 'SCHEDULE');
      return { waiting: `${server.pod} was asked to save its data` };
    });
  });
}

async function readPersistence(
  member: Member,
): Promise<{ readonly running: boolean; readonly ok: boolean; readonly savedAt: number }> {
  const info = parseInfo(await member.ask('INFO', 'persistence'));
  return {
    running: info['rdb_bgsave_in_progress'] === '1' || info['aof_rewrite_in_progress'] === '1',
    ok: info['rdb_last_bgsave_status'] === 'ok',
    savedAt: Number(info['rdb_last_save_time'] ?? 0),
  };
}
