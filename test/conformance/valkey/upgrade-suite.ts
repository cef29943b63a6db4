import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseInfo } from '../../../activities/valkey/info.ts';
import type { ValkeyAccess, ValkeyServer } from '../../../activities/valkey/contract.ts';
import { runAttempt } from '../attempt.ts';
import { actsOn } from './acts.ts';
import type { ValkeyStage } from './stage.ts';

/** What an upgrade asks of the servers beside what every change does. */
export function upgradeSuite(open: () => Promise<ValkeyStage>): void {
  describe('the activities of an upgrade', () => {
    let stage: ValkeyStage;
    let access: ValkeyAccess;
    let master: ValkeyServer;
    let replica: ValkeyServer;
    const { meet, assign, attach } = actsOn(() => ({ stage, access }));
    beforeEach(async () => {
      stage = await open();
      access = stage.access();
      const [first, second] = await stage.start(2);
      if (first === undefined || second === undefined) throw new Error('two were started');
      [master, replica] = [first, second];
      const { nodeIds } = await meet([master, replica]);
      await assign(master, [0, 16_383]);
      await attach(replica, nodeIds[master.pod] ?? '');
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
      await attempt.hear('of 600 s');
      await stage.kill(replica);
      await attempt.hear('a member seems to fail');
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
