import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ValkeyAccess, ValkeyServer } from '../../../activities/valkey/contract.ts';
import { runAttempt } from '../attempt.ts';
import { actsOn } from './acts.ts';
import type { ValkeyStage } from './stage.ts';

/** Its slot is 16,383. */
const KEY_OF_LAST_SLOT = 'k10322';

/** What every implementation of the Valkey activities must do, on servers that are real or not. */
export function valkeySuite(open: () => Promise<ValkeyStage>): void {
  describe('the activities of Valkey', () => {
    let stage: ValkeyStage;
    let access: ValkeyAccess;
    beforeEach(async () => {
      stage = await open();
      access = stage.access();
    });
    afterEach(() => stage.close());

    const { nodes, self, meet, assign, attach, untilSaid } = actsOn(() => ({ stage, access }));
    /** Two servers by name, because most stories need no more. */
    async function two(): Promise<readonly [ValkeyServer, ValkeyServer]> {
      const [first, second] = await stage.start(2);
      if (first === undefined || second === undefined) throw new Error('two were started');
      return [first, second];
    }

    describe('meeting', () => {
      test('makes each server see each other one, with epochs of their own', async () => {
        const servers = await stage.start(4);
        const { nodeIds } = await meet(servers);
        const epochs = new Set<number>();
        for (const server of servers) {
          const seen = await nodes(server);
          expect(seen.map((node) => node.id).toSorted()).toEqual(Object.values(nodeIds).toSorted());
          expect(seen.every((node) => node.connected && !node.handshake)).toBe(true);
          epochs.add((await self(server)).configEpoch);
          expect(nodeIds[server.pod]).toBe((await self(server)).id);
        }
        expect(epochs.size).toBe(4);
        expect(epochs).not.toContain(0);
      });

      test('again changes nothing', async () => {
        const servers = await stage.start(3);
        const first = await meet(servers);
        const epochs = await Promise.all(servers.map(async (server) => (await self(server)).configEpoch));
        expect(await meet(servers)).toEqual(first);
        expect(await Promise.all(servers.map(async (server) => (await self(server)).configEpoch))).toEqual(
          epochs,
        );
      });

      test('brings new servers into a cluster that serves, and leaves its slots alone', async () => {
        const [first, second] = await two();
        await meet([first, second]);
        await assign(first, [0, 16_383]);
        const more = await stage.start(2);
        const { nodeIds } = await meet([first, second, ...more]);
        expect(Object.keys(nodeIds)).toHaveLength(4);
        expect((await self(first)).slots).toEqual([[0, 16_383]]);
      });

      test('goes on where a crash left it: an epoch given, one introduction made', async () => {
        const [first, second] = await two();
        await stage.command(first, 'CLUSTER', 'SET-CONFIG-EPOCH', '9');
        await stage.command(first, 'CLUSTER', 'MEET', second.ip, String(second.port));
        await meet([first, second]);
        expect((await self(first)).configEpoch).toBe(9);
        expect(await nodes(second)).toHaveLength(2);
      });

      test('finds everybody again when all have come back at other addresses, with their slots', async () => {
        const servers = await stage.start(3);
        const [first] = servers;
        const { nodeIds } = await meet(servers);
        if (first !== undefined) await assign(first, [0, 16_383]);
        const moved = await Promise.all(servers.map((server) => stage.move(server)));
        const again = await meet(moved);
        expect(Object.values(again.nodeIds).toSorted()).toEqual(Object.values(nodeIds).toSorted());
        for (const server of moved) {
          const seen = await nodes(server);
          expect(seen.map((node) => node.ip).toSorted()).toEqual(moved.map(({ ip }) => ip).toSorted());
          expect(seen.flatMap((node) => node.slots)).toEqual([[0, 16_383]]);
        }
      });

      test('waits for servers that are starting until each answers', async () => {
        const [first, second] = await two();
        await stage.kill(second);
        const servers = [first, second];
        const attempt = runAttempt(() =>
          stage.activities.meetValkeyNodes({ access, servers, starting: true }),
        );
        await attempt.hear('1 of 2 servers answer');
        attempt.cancel();
        await expect(attempt.result).rejects.toMatchObject({ name: 'CancelledFailure' });
        const both = await two();
        const met = await stage.activities.meetValkeyNodes({ access, servers: both, starting: true });
        expect(Object.keys(met.nodeIds)).toEqual(both.map(({ pod }) => pod));
      });

      test('never merges two clusters that both serve slots', async () => {
        const [first, second] = await two();
        await assign(first, [0, 99]);
        await assign(second, [0, 99]);
        await expect(meet([first, second])).rejects.toMatchObject({
          type: 'ValkeyRefused',
          nonRetryable: true,
        });
        expect(await nodes(first)).toHaveLength(1);
      });
    });

    describe('assigning slots', () => {
      test('gives them, and finding them given is success', async () => {
        const [server] = await two();
        expect(await assign(server, [0, 99], [200, 299])).toEqual({ assigned: 200 });
        expect(await assign(server, [0, 99], [200, 299])).toEqual({ assigned: 200 });
        expect((await self(server)).slots).toEqual([
          [0, 99],
          [200, 299],
        ]);
      });

      test('completes what was half done', async () => {
        const [server] = await two();
        await stage.command(server, 'CLUSTER', 'ADDSLOTSRANGE', '10', '19');
        expect(await assign(server, [0, 29])).toEqual({ assigned: 30 });
      });

      test('refuses slots that another node serves, and then gives none', async () => {
        const [first, second] = await two();
        await meet([first, second]);
        await assign(first, [0, 99]);
        while (!(await nodes(second)).some((node) => node.slots.length > 0))
          await new Promise((resolve) => setTimeout(resolve, 20));
        await expect(assign(second, [50, 199])).rejects.toMatchObject({
          type: 'ValkeySlotBusy',
          message: expect.stringContaining('50-99'),
        });
        expect((await self(second)).slots).toEqual([]);
      });

      test('refuses a replica', async () => {
        const [master, replica] = await two();
        const { nodeIds } = await meet([master, replica]);
        await assign(master, [0, 99]);
        await attach(replica, nodeIds[master.pod] ?? '');
        await expect(assign(replica, [100, 199])).rejects.toMatchObject({ type: 'ValkeySlotBusy' });
      });
    });

    describe('attaching a replica', () => {
      test('ends when it is in sync, and again at once', async () => {
        const [master, replica] = await two();
        const { nodeIds } = await meet([master, replica]);
        await assign(master, [0, 16_383]);
        const masterId = nodeIds[master.pod] ?? '';
        const { linkSeconds } = await attach(replica, masterId);
        expect(linkSeconds).toBeGreaterThan(0);
        expect(await self(replica)).toMatchObject({ role: 'replica', masterId });
        expect(await stage.command(replica, 'INFO', 'replication')).toContain('master_link_status:up');
        await attach(replica, masterId);
      });

      test('refuses a server with slots of its own, which it would lose', async () => {
        const [first, second] = await two();
        const { nodeIds } = await meet([first, second]);
        await assign(second, [0, 99]);
        await expect(attach(second, nodeIds[first.pod] ?? '')).rejects.toMatchObject({
          type: 'ValkeySlotBusy',
        });
        expect((await self(second)).slots).toEqual([[0, 99]]);
      });

      test('waits until the server has heard of the master, and says so', async () => {
        const [master, replica] = await two();
        const masterId = (await self(master)).id;
        const attempt = runAttempt(() => attach(replica, masterId));
        await attempt.hear(`has not heard of ${masterId}`);
        await meet([master, replica]);
        await attempt.result;
        expect(await self(replica)).toMatchObject({ role: 'replica', masterId });
      });
    });

    describe('forgetting', () => {
      const forget = (
        servers: readonly ValkeyServer[],
        leaving: readonly ValkeyServer[],
        nodeIds: readonly string[],
      ) => stage.activities.forgetValkeyNodes({ access, servers, leaving, nodeIds });

      test('leaves those that stay without a memory of who left, and who left alone with another id', async () => {
        const [left, ...stay] = await stage.start(3);
        if (left === undefined) throw new Error('three were started');
        const { nodeIds } = await meet([left, ...stay]);
        const leaving = nodeIds[left.pod] ?? '';
        expect(await forget(stay, [left], [leaving])).toEqual({ forgotten: 1 });
        for (const server of stay)
          expect((await nodes(server)).map((node) => node.id)).not.toContain(leaving);
        expect(await nodes(left)).toHaveLength(1);
        expect((await self(left)).id).not.toBe(leaving);
        expect(await forget(stay, [left], [leaving])).toEqual({ forgotten: 1 });
      });

      test('of a node that is gone needs no word from it', async () => {
        const [gone, ...stay] = await stage.start(3);
        if (gone === undefined) throw new Error('three were started');
        const { nodeIds } = await meet([gone, ...stay]);
        await stage.kill(gone);
        await forget(stay, [], [nodeIds[gone.pod] ?? '']);
        for (const server of stay) expect(await nodes(server)).toHaveLength(2);
      });

      test('refuses a node that serves slots', async () => {
        const [first, second] = await two();
        const { nodeIds } = await meet([first, second]);
        await assign(second, [0, 9]);
        await expect(forget([first], [second], [nodeIds[second.pod] ?? ''])).rejects.toMatchObject({
          type: 'ValkeySlotBusy',
        });
        expect(await nodes(first)).toHaveLength(2);
      });
    });

    describe('forgetting a master that serves nothing and has keys in it', () => {
      /** A cluster of two, of which the second has one slot with a key in it. */
      async function leaver(): Promise<readonly [ValkeyServer, ValkeyServer, string]> {
        const [first, second] = await two();
        const { nodeIds } = await meet([first, second]);
        await assign(first, [0, 16_382]);
        await assign(second, [16_383, 16_383]);
        await untilSaid(second, 'cluster_state:ok');
        await stage.command(second, 'SET', KEY_OF_LAST_SLOT, 'old');
        return [first, second, nodeIds[second.pod] ?? ''];
      }
      const forget = (first: ValkeyServer, second: ValkeyServer, id: string) =>
        stage.activities.forgetValkeyNodes({ access, servers: [first], leaving: [second], nodeIds: [id] });

      test('empties and resets it once others serve all slots', async () => {
        const [first, second, id] = await leaver();
        // Given away by hand, a slot leaves its keys where they were.
        await stage.command(second, 'CLUSTER', 'DELSLOTS', '16383');
        await stage.command(first, 'CLUSTER', 'DELSLOTS', '16383').catch(() => '');
        await expect(forget(first, second, id)).rejects.toThrow('nobody serves');
        expect(await stage.command(second, 'DBSIZE')).toBe('1');
        await assign(first, [16_383, 16_383]);
        await untilSaid(second, 'cluster_slots_assigned:16384');
        expect(await forget(first, second, id)).toEqual({ forgotten: 1 });
        expect(await stage.command(second, 'DBSIZE')).toBe('0');
        expect((await self(second)).id).not.toBe(id);
      });

      test('leaves one alone that serves a slot, with its keys', async () => {
        const [first, second, id] = await leaver();
        await expect(forget(first, second, id)).rejects.toMatchObject({ type: 'ValkeySlotBusy' });
        expect(await stage.command(second, 'DBSIZE')).toBe('1');
        expect((await self(second)).id).toBe(id);
      });
    });

    describe('waiting for health', () => {
      const health = (servers: readonly ValkeyServer[], masters: number, replicasPerMaster: number) =>
        runAttempt(() => stage.activities.awaitValkeyHealth({ access, servers, masters, replicasPerMaster }));

      test('ends when all slots are served and all views agree; until then it says what is missing', async () => {
        const [master, replica] = await two();
        const { nodeIds } = await meet([master, replica]);
        const attempt = health([master, replica], 1, 1);
        await attempt.hear('0 of 1 masters serve slots; 0 of 16384 slots are known to all');
        await assign(master, [0, 16_383]);
        await attempt.hear('without all replicas: ');
        await attach(replica, nodeIds[master.pod] ?? '');
        expect(await attempt.result).toEqual({ slots: 16_384, nodes: 2, missing: null });
      });

      test('is left at once when it is cancelled', async () => {
        const [first, second] = await two();
        const attempt = health([first, second], 2, 0);
        await attempt.hear('0 of 2 masters serve slots');
        attempt.cancel();
        await expect(attempt.result).rejects.toMatchObject({ name: 'CancelledFailure' });
      });
    });

    describe('a pod that is another one by now', () => {
      test('is sent nothing', async () => {
        const [first, second] = await two();
        stage.replacePod(second);
        const refusal = { type: 'ValkeyPodReplaced', nonRetryable: true };
        await expect(meet([first, second])).rejects.toMatchObject(refusal);
        await expect(assign(second, [0, 99])).rejects.toMatchObject(refusal);
        await expect(attach(second, (await self(first)).id)).rejects.toMatchObject(refusal);
        expect(await nodes(first)).toHaveLength(1);
        expect((await self(second)).slots).toEqual([]);
      });
    });

    describe('a server that is away', () => {
      test('is a transient failure that names it', async () => {
        const [first, second] = await two();
        await stage.kill(second);
        await expect(meet([first, second])).rejects.toMatchObject({
          type: 'ValkeyUnreachable',
          nonRetryable: false,
          message: expect.stringContaining(second.pod),
        });
      });
    });

    describe('a server with a password', () => {
      const PASSWORD = 'correct-horse';

      test('is opened with the one in the Secret', async () => {
        const [server] = await stage.start(1, { password: PASSWORD });
        access = stage.access({ password: PASSWORD });
        expect(server && (await assign(server, [0, 9]))).toEqual({ assigned: 10 });
      });

      test.each([
        ['another one', () => stage.access({ password: 'battery-staple' })],
        ['none', () => stage.access()],
      ])('refuses %s, and no password stands in the failure', async (_, wrong) => {
        const [server] = await stage.start(1, { password: PASSWORD });
        access = wrong();
        const failed: unknown = server && (await assign(server, [0, 9]).catch((error: unknown) => error));
        expect(failed).toMatchObject({ type: 'ValkeyAuth', nonRetryable: true });
        expect(JSON.stringify(failed, Object.getOwnPropertyNames(failed))).not.toMatch(
          /correct-horse|battery-staple/,
        );
      });

      test('refuses a user without the right to a command, and names the command', async () => {
        const [server] = await stage.start(1, {
          password: PASSWORD,
          settings: [['user', `limited on >${PASSWORD} +@all -cluster|addslotsrange`]],
        });
        access = stage.access({ user: 'limited', password: PASSWORD });
        await expect(server && assign(server, [0, 9])).rejects.toMatchObject({
          type: 'ValkeyAcl',
          message: expect.stringContaining('addslotsrange'),
        });
      });

      test('is not opened at all when the Secret is missing', async () => {
        const [server] = await stage.start(1, { password: PASSWORD });
        access = { ...stage.access(), auth: { secret: 'nowhere', key: 'password', user: 'default' } };
        await expect(server && assign(server, [0, 9])).rejects.toMatchObject({ type: 'DependencyMissing' });
      });
    });
  });
}
