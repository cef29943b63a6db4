import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ValkeyServer } from '../../../activities/valkey/contract.ts';
import { runAttempt } from '../attempt.ts';
import { openRealServers } from './real-servers.ts';
import type { ValkeyStage } from './stage.ts';
import { TroubledLine, type Trouble } from './troubled-line.ts';

const KEYS = 2_000;
/** Slow enough that a move is met under way also on a busy machine: eight seconds for all keys. */
const MICROSECONDS_PER_KEY = '4000';

let stage: ValkeyStage;
let line: TroubledLine | null = null;
beforeEach(async () => {
  stage = await openRealServers('9.1.2');
});
afterEach(async () => {
  line?.close();
  await stage.close();
});

/** Two masters of which the first serves all slots, with keys in one of them. */
async function formPair(): Promise<readonly [ValkeyServer, ValkeyServer]> {
  const access = stage.access();
  const settings = [['cluster-allow-replica-migration', 'no']] as const;
  const servers = await stage.start(2, { settings });
  const [first, second] = servers;
  if (first === undefined || second === undefined) throw new Error('two were started');
  await stage.activities.meetValkeyNodes({ access, servers });
  await stage.activities.assignValkeySlots({ access, server: first, ranges: [[0, 16_383]] });
  await stage.activities.awaitValkeyHealth({ access, servers, masters: 1, replicasPerMaster: 0 });
  const script = "for i=1,tonumber(ARGV[1]) do server.call('SET', KEYS[1]..i, i) end";
  await stage.command(first, 'EVAL', script, '1', '{a}', String(KEYS));
  await stage.command(first, 'CONFIG', 'SET', 'rdb-key-save-delay', MICROSECONDS_PER_KEY);
  return [first, second];
}

describe('a server that in the middle of a move', () => {
  it.each<[string, Trouble]>([
    ['speaks garbage', 'garbage'],
    ['resets connections', 'reset'],
    ['does not answer', 'silence'],
  ])(
    '%s fails the attempt in a way that is tried again, and the move ends once it has recovered',
    async (_, trouble) => {
      const [first, second] = await formPair();
      line = await TroubledLine.open(first);
      const source = line.server;
      const input = { access: stage.access(), source, target: second, servers: [source, second] };
      const move = () =>
        runAttempt(() => stage.activities.migrateValkeySlots({ ...input, ranges: [[0, 16_383]] }));
      const begun = move();
      const failed = begun.result.catch((error: unknown) => error);
      await begun.hear('the job for');
      line.set(trouble);
      const code = expect.stringMatching(/^Valkey(Unreachable|Protocol)$/);
      expect(await failed).toMatchObject({ type: code, nonRetryable: false });
      line.set('none');
      expect(await move().result).toMatchObject({ slots: 16_384, slotsByKey: 0 });
      expect(await stage.command(second, 'DBSIZE')).toBe(String(KEYS));
      expect(await stage.command(first, 'DBSIZE')).toBe('0');
    },
    120_000,
  );
});
