import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseInfo } from '../../../activities/valkey/info.ts';
import type { ValkeyAccess, ValkeyServer } from '../../../activities/valkey/contract.ts';
import { runAttempt } from '../attempt.ts';
import type { ValkeyStage } from './stage.ts';

/** What an upgrade asks of the servers beside what every change does. */
export function upgradeSuite(open: () => Promise<ValkeyStage>): void {
  describe('the activities of an upgrade', () => {
    let stage: ValkeyStage;
    let access: ValkeyAccess;
    let master: ValkeyServer;
    let replica: ValkeyServer;
    beforeEach(async () => {
      stage = await open();
      access = stage.access();
      const [first, second] = await stage.start(2);
      if (first === undefined || second === undefined) throw new Error('two were started');
      [master, replica] = [first, second];
      const { nodeIds } = await stage.activities.meetValkeyNodes({ access, servers: [master, replica] });
      await stage.activities.assignValkeySlots({ access, server: master, ranges: [[0, 16_383]] });
      const masterId = nodeIds[master.pod] ?? '';
      await stage.activities.attachValkeyReplica({ access, server: replica, masterId });
    });
    afterEach(() => stage.close());

    test('stability is reached when all has been well for so long', async () => {
      const servers = [master, replica];
      const { seconds } = await stage.activities.awaitValkeyStability({ access, servers, stableSeconds: 1 });
      expect(seconds).toBeGreaterThanOrEqual(1);
    });

    test('stability is broken by a node that goes, and says so', async () => {
      const attempt = runAttempt(() =>
        stage.activities.awaitValkeyStability({ access, servers: [master], stableSeconds: 600 }),
      );
      const said = async (words: string): Promise<void> => {
        while (!attempt.said.some((one) => one.includes(words)))
          await new Promise((resolve) => setTimeout(resolve, 20));
      };
      await said('of 600 s');
      await stage.kill(replica);
      await said('a member seems to fail');
      attempt.cancel();
      await expect(attempt.result).rejects.toThrow('CANCELLED');
    });

    test('a snapshot is on the volume when it is said to be, also the second time', async () => {
      await stage.activities.awaitValkeyStability({ access, servers: [master], stableSeconds: 0 });
      await stage.command(master, 'SET', 'key', 'value');
      const persistence = async () => parseInfo(await stage.command(master, 'INFO', 'persistence'));
      const before = Number((await persistence())['rdb_last_save_time']);
      const { savedAt } = await stage.activities.snapshotValkeyServer({ access, server: master });
      expect(savedAt).toBeGreaterThanOrEqual(before);
      expect(await persistence()).toMatchObject({
        rdb_last_bgsave_status: 'ok',
        rdb_changes_since_last_save: '0',
      });
      const again = await stage.activities.snapshotValkeyServer({ access, server: master });
      expect(again.savedAt).toBeGreaterThan(savedAt);
    });
  });
}
