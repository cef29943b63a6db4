import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ValkeyAccess } from '../../../activities/valkey/contract.ts';
import { actsOn } from './acts.ts';
import type { ValkeyStage } from './stage.ts';

/** Its slot is 449. */
const KEY_OF_FIRST_SLOTS = 'k2';

/** What becomes of the data of a master that is lost: nobody takes it from the replica that has it. */
export function lostMasterSuite(open: () => Promise<ValkeyStage>): void {
  describe('the replica of a lost master', () => {
    let stage: ValkeyStage;
    let access: ValkeyAccess;
    beforeEach(async () => {
      stage = await open();
      access = stage.access();
    });
    afterEach(() => stage.close());

    const { self, meet, assign, attach, untilSaid } = actsOn(() => ({ stage, access }));

    test('is attached to nobody else, and keeps its data', async () => {
      const [master, replica, other] = await stage.start(3);
      if (master === undefined || replica === undefined || other === undefined)
        throw new Error('three were started');
      const { nodeIds } = await meet([master, replica, other]);
      await assign(master, [0, 16_383]);
      const masterId = nodeIds[master.pod] ?? '';
      await attach(replica, masterId);
      await untilSaid(master, 'cluster_state:ok');
      await stage.command(master, 'SET', 'a key', 'its value');
      await stage.command(master, 'WAIT', '1', '5000');
      await stage.kill(master);
      await expect(attach(replica, nodeIds[other.pod] ?? '')).rejects.toMatchObject({
        type: 'ValkeyNotConverged',
      });
      expect(await self(replica)).toMatchObject({ role: 'replica', masterId });
      expect(await stage.command(replica, 'DBSIZE')).toContain('1');
    });

    test('gets the votes of the others although it has restarted since, and leads with the data', async () => {
      const servers = await stage.start(4);
      const [lost, second, third, replica] = servers;
      if (lost === undefined || second === undefined || third === undefined || replica === undefined)
        throw new Error('four were started');
      const { nodeIds } = await meet(servers);
      await assign(lost, [0, 5000]);
      await assign(second, [5001, 10_000]);
      await assign(third, [10_001, 16_383]);
      await attach(replica, nodeIds[lost.pod] ?? '');
      await untilSaid(lost, 'cluster_state:ok');
      await stage.command(lost, 'SET', KEY_OF_FIRST_SLOTS, 'its value');
      await stage.command(lost, 'WAIT', '1', '5000');
      await stage.command(replica, 'SAVE');
      await stage.kill(lost);
      const moved = await stage.move(replica);
      await meet([second, third, moved]);
      const elected = stage.activities.electValkeyMaster({ access, server: moved });
      expect(await elected).toMatchObject({ slots: 5001 });
      expect(await stage.activities.electValkeyMaster({ access, server: moved })).toEqual(await elected);
      expect(await stage.command(moved, 'DBSIZE')).toContain('1');
    });
  });
}
