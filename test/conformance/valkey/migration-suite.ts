import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseClusterNodes } from '../../../activities/valkey/cluster-nodes.ts';
import { classify, ValkeyError } from '../../../activities/valkey/errors.ts';
import type { ValkeyAccess, ValkeyServer } from '../../../activities/valkey/contract.ts';
import type { SlotRange } from '../../../workflows/valkey-cluster/domain/observation.ts';
import { actsOn } from './acts.ts';
import type { ServerOptions, ValkeyStage } from './stage.ts';

const PASSWORD = 'correct-horse';
/** As our own servers run: an emptied master stays one. */
const SETTINGS: readonly (readonly [string, string])[] = [['cluster-allow-replica-migration', 'no']];

/** Three masters of which the first serves all slots, with keys in many of them. */
interface Trio {
  readonly servers: readonly [ValkeyServer, ValkeyServer, ValkeyServer];
  readonly ids: readonly [string, string, string];
}

/** What moving slots and handing shards over must do, with jobs or without. */
export function migrationSuite(open: () => Promise<ValkeyStage>, hasJobs: boolean): void {
  describe('moving slots', () => {
    let stage: ValkeyStage;
    let access: ValkeyAccess;
    beforeEach(async () => {
      stage = await open();
      access = stage.access({ password: PASSWORD });
    });
    afterEach(() => stage.close());

    const { nodes, self, meet, assign } = actsOn(() => ({ stage, access }));
    const migrate = (
      trio: Trio,
      ranges: readonly SlotRange[],
      from = 0,
      to = 1,
      beside: readonly SlotRange[] = [],
    ) =>
      stage.activities.migrateValkeySlots({
        access,
        source: trio.servers[from] as ValkeyServer,
        target: trio.servers[to] as ValkeyServer,
        servers: trio.servers,
        ranges,
        beside,
      });

    async function trio(options: ServerOptions = {}): Promise<Trio> {
      const servers = await stage.start(3, { password: PASSWORD, settings: SETTINGS, ...options });
      const [first, second, third] = servers;
      if (first === undefined || second === undefined || third === undefined)
        throw new Error('three started');
      const { nodeIds } = await meet(servers);
      await assign(first, [0, 16_383]);
      await stage.activities.awaitValkeyHealth({ access, servers, masters: 1, replicasPerMaster: 0 });
      const id = (server: ValkeyServer): string => nodeIds[server.pod] ?? '';
      return { servers: [first, second, third], ids: [id(first), id(second), id(third)] };
    }

    /** Writes keys of one slot each, by their tag; answers their names. */
    async function fill(server: ValkeyServer, count: number): Promise<void> {
      const script = "for i=1,tonumber(ARGV[1]) do server.call('SET', KEYS[1]..i, i) end";
      for (const tag of ['a', 'b', 'c', 'd'])
        await stage.command(server, 'EVAL', script, '1', `{${tag}}`, String(count));
    }
    const slotOf = async (server: ValkeyServer, key: string): Promise<number> =>
      Number(await stage.command(server, 'CLUSTER', 'KEYSLOT', key));
    const size = async (server: ValkeyServer): Promise<number> =>
      Number(await stage.command(server, 'DBSIZE'));

    test('brings slots and keys over, all masters hear of it, and again nothing changes', async () => {
      const three = await trio();
      const [first, second, third] = three.servers;
      await fill(first, 250);
      const ranges = [
        [0, 8_000],
        [10_000, 16_383],
      ] as const;
      const moved = await migrate(three, ranges);
      expect(moved).toMatchObject({ slots: 14_385, slotsByKey: hasJobs ? 0 : 14_385, jobs: hasJobs ? 1 : 0 });
      for (const server of three.servers)
        expect((await nodes(server)).find((node) => node.id === three.ids[1])?.slots).toEqual(ranges);
      expect((await self(first)).slots).toEqual([[8_001, 9_999]]);
      expect((await size(first)) + (await size(second))).toBe(1_000);
      expect(await size(second)).toBe(moved.keys);
      expect(await migrate(three, ranges)).toMatchObject({ slots: 14_385, jobs: 0, slotsByKey: 0 });
      expect(await size(third)).toBe(0);
    }, 60_000);

    test('gives to two masters at the same time', async () => {
      const three = await trio();
      await fill(three.servers[0], 250);
      const lower = [[0, 8_191]] as const;
      const upper = [[8_192, 16_383]] as const;
      const [second, third] = await Promise.all([
        migrate(three, lower, 0, 1, upper),
        migrate(three, upper, 0, 2, lower),
      ]);
      expect(second.keys + third.keys).toBe(1_000);
      expect([second.slotsByKey, third.slotsByKey]).toEqual(hasJobs ? [0, 0] : [8_192, 8_192]);
      expect(await Promise.all(three.servers.map(size))).toEqual([0, second.keys, third.keys]);
      for (const server of three.servers) expect((await self(server)).openSlots).toEqual([]);
    }, 60_000);

    test('leaves a slot alone that another move from the same source has open', async () => {
      const three = await trio();
      const [first, second, third] = three.servers;
      await fill(first, 10);
      const slot = await slotOf(first, 'a');
      await stage.command(third, 'CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', three.ids[0]);
      await stage.command(first, 'CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', three.ids[2]);
      const others = [
        [0, slot - 1],
        [slot + 1, 16_383],
      ] as const;
      await migrate(three, others, 0, 1, [[slot, slot]]);
      expect((await self(first)).openSlots).toMatchObject([{ slot, direction: 'migrating' }]);
      expect((await self(second)).slots).toEqual(others);
      const cancel = (ranges: readonly SlotRange[]) =>
        stage.activities.cancelValkeyMigrations({ access, source: first, servers: three.servers, ranges });
      expect(await cancel(others)).toMatchObject({ closed: 0 });
      expect(await cancel([[slot, slot]])).toMatchObject({ closed: 1 });
      expect(await stage.command(third, 'CLUSTER', 'COUNTKEYSINSLOT', String(slot))).toBe('10');
    }, 60_000);

    test('empties a master that then stays a master', async () => {
      const three = await trio();
      await migrate(three, [[0, 99]], 0, 2);
      await migrate(three, [[0, 99]], 2, 1);
      expect(await self(three.servers[2])).toMatchObject({ role: 'master', slots: [] });
    });

    test('brings a key over whatever bytes are in its name', async () => {
      const three = await trio();
      const [first, second] = three.servers;
      await stage.command(first, 'EVAL', "server.call('SET', '\\0,\\255{x}\\r\\n', 'v')", '1', '{x}');
      const slot = await slotOf(first, 'x');
      await migrate(three, [[slot, slot]]);
      expect(
        await stage.command(second, 'EVAL', "return server.call('GET', '\\0,\\255{x}\\r\\n')", '1', '{x}'),
      ).toBe('v');
    });

    test('refuses slots that a third node serves, and moves none', async () => {
      const three = await trio();
      await migrate(three, [[0, 9]], 0, 2);
      await expect(migrate(three, [[5, 15]])).rejects.toMatchObject({
        type: 'ValkeySlotBusy',
        message: expect.stringContaining('5-9'),
      });
      expect((await self(three.servers[1])).slots).toEqual([]);
    });

    test('goes on with a slot that was left half moved', async () => {
      const three = await trio();
      const [first, second] = three.servers;
      await fill(first, 300);
      const slot = await slotOf(first, 'a');
      await stage.command(second, 'CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', three.ids[0]);
      await stage.command(first, 'CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', three.ids[1]);
      const auth = ['AUTH2', 'default', PASSWORD];
      const half = ['{a}1', '{a}2', '{a}3'];
      await stage.command(first, 'MIGRATE', second.ip, '6379', '', '0', '5000', ...auth, 'KEYS', ...half);
      await migrate(three, [[slot, slot]]);
      expect(await stage.command(second, 'CLUSTER', 'COUNTKEYSINSLOT', String(slot))).toBe('300');
      expect(await stage.command(first, 'CLUSTER', 'COUNTKEYSINSLOT', String(slot))).toBe('0');
      for (const server of [first, second]) expect((await self(server)).openSlots).toEqual([]);
    });

    test('is given up by a cancellation that leaves every slot whole', async () => {
      const three = await trio();
      const [first, second] = three.servers;
      await fill(first, 50);
      const slot = await slotOf(first, 'a');
      await stage.command(second, 'CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', three.ids[0]);
      await stage.command(first, 'CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', three.ids[1]);
      await stage.command(
        first,
        'MIGRATE',
        second.ip,
        '6379',
        '{a}1',
        '0',
        '5000',
        'AUTH2',
        'default',
        PASSWORD,
      );
      // Whoever did it closed the source's side, and forgot the target's.
      await stage.command(first, 'CLUSTER', 'SETSLOT', String(slot), 'STABLE');
      const cancel = () =>
        stage.activities.cancelValkeyMigrations({ access, source: first, servers: three.servers });
      expect(await cancel()).toEqual({ cancelled: 0, closed: 1 });
      expect(await stage.command(first, 'GET', '{a}1')).toBe('1');
      for (const server of [first, second]) expect((await self(server)).openSlots).toEqual([]);
      expect(await cancel()).toEqual({ cancelled: 0, closed: 0 });
    });

    if (!hasJobs) return;

    test('adopts a job that somebody has begun', async () => {
      const three = await trio();
      const [first, second] = three.servers;
      await fill(first, 20_000);
      await stage.command(first, 'CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', '0', '16383', 'NODE', three.ids[1]);
      expect(await migrate(three, [[0, 16_383]])).toMatchObject({ jobs: 0, slotsByKey: 0 });
      expect(await size(second)).toBe(80_000);
    });

    test('cancels a job that runs', async () => {
      const three = await trio();
      const [first] = three.servers;
      await fill(first, 20_000);
      await stage.command(first, 'CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', '0', '16383', 'NODE', three.ids[1]);
      const { cancelled } = await stage.activities.cancelValkeyMigrations({
        access,
        source: first,
        servers: three.servers,
      });
      const owner = (await self(first)).slots.length > 0 ? 0 : 1;
      expect(cancelled).toBe(owner === 0 ? 1 : 0);
      expect(await size(three.servers[owner])).toBe(80_000);
    });

    test('moves key by key when jobs fail, each try smaller than the one before', async () => {
      const three = await trio();
      const [first, second] = three.servers;
      await fill(first, 100);
      // Jobs present the server's own password to the target; the keys' move presents ours.
      await stage.command(first, 'CONFIG', 'SET', 'primaryauth', 'wrong');
      const moved = await migrate(three, [[0, 16_383]]);
      expect(moved).toMatchObject({ slots: 16_384, jobs: 3, slotsByKey: 16_384 });
      const log = await stage.command(first, 'CLUSTER', 'GETSLOTMIGRATIONS');
      expect(log).toContain('0-16383');
      expect(log).toContain('0-4095');
      expect(log).toContain('0-1023');
      expect(await size(second)).toBe(400);
    }, 120_000);
  });

  describe('handing a shard over', () => {
    let stage: ValkeyStage;
    let access: ValkeyAccess;
    beforeEach(async () => {
      stage = await open();
      access = stage.access();
    });
    afterEach(() => stage.close());

    const { meet, assign, attach } = actsOn(() => ({ stage, access }));

    /** A master with all slots, one that only votes would not count, and a replica of the first. */
    async function shard(): Promise<{
      master: ValkeyServer;
      heir: ValkeyServer;
      servers: readonly ValkeyServer[];
    }> {
      const servers = await stage.start(4, { settings: SETTINGS });
      const [master, heir, second, third] = servers;
      if (master === undefined || heir === undefined || second === undefined || third === undefined)
        throw new Error('four were started');
      const { nodeIds } = await meet(servers);
      await assign(master, [0, 5_000]);
      await assign(second, [5_001, 10_000]);
      await assign(third, [10_001, 16_383]);
      const servingAlone = { access, servers, masters: 3, replicasPerMaster: 0 };
      await stage.activities.awaitValkeyHealth(servingAlone);
      await attach(heir, nodeIds[master.pod] ?? '');
      await agree(servers);
      return { master, heir, servers };
    }
    /** Every node has heard of the replica. */
    async function agree(servers: readonly ValkeyServer[]): Promise<void> {
      for (const server of servers)
        while (!(await stage.command(server, 'CLUSTER', 'NODES')).includes('slave'))
          await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const role = async (server: ValkeyServer): Promise<string> =>
      (await stage.command(server, 'ROLE')).split(',')[0] ?? '';

    test('makes the replica master of all its slots, with every node in agreement, and again at once', async () => {
      const { master, heir, servers } = await shard();
      const handOver = () => stage.activities.handOverValkeyMaster({ access, server: heir, servers });
      const { gapMs, epoch } = await handOver();
      expect(gapMs).toBeGreaterThan(0);
      expect(await role(heir)).toBe('master');
      expect(await role(master)).toBe('slave');
      for (const server of servers) {
        const seen = parseClusterNodes(await stage.command(server, 'CLUSTER', 'NODES'));
        expect(seen.find((node) => node.ip === heir.ip)?.slots).toEqual([[0, 5_000]]);
      }
      expect(await handOver()).toEqual({ gapMs: 0, epoch });
    });

    test('refuses while slots of the shard are moving', async () => {
      const { master, heir, servers } = await shard();
      const third = servers[3] as ValkeyServer;
      const id = await stage.command(third, 'CLUSTER', 'MYID');
      await stage.command(master, 'CLUSTER', 'SETSLOT', '7', 'MIGRATING', id);
      await expect(
        stage.activities.handOverValkeyMaster({ access, server: heir, servers }),
      ).rejects.toMatchObject({ type: 'ValkeyNotConverged', message: expect.stringContaining('slots') });
      expect(await role(master)).toBe('master');
    });

    /** What a server answers to the request, as the activities would name it. */
    async function refusalOf(server: ValkeyServer): Promise<string> {
      const error: unknown = await stage.command(server, 'CLUSTER', 'FAILOVER').then(
        (said) => new Error(`it was taken: ${said}`),
        (refused: unknown) => refused,
      );
      return classify(new ValkeyError(server.pod, 'CLUSTER FAILOVER', error));
    }

    test('knows the words with which a master, and a replica without one, refuse it', async () => {
      const { master, heir } = await shard();
      expect(await refusalOf(master)).toBe('ValkeyNotConverged');
      await stage.command(heir, 'CONFIG', 'SET', 'cluster-replica-no-failover', 'yes');
      await stage.kill(master);
      const lost = async (): Promise<boolean> =>
        parseClusterNodes(await stage.command(heir, 'CLUSTER', 'NODES')).some(
          (node) => node.ip === master.ip && node.failing === 'failed',
        );
      while (!(await lost())) await new Promise((resolve) => setTimeout(resolve, 100));
      expect(await refusalOf(heir)).toBe('ValkeyNotConverged');
    });

    test('refuses a replica whose master was not asked', async () => {
      const { heir, servers } = await shard();
      await expect(
        stage.activities.handOverValkeyMaster({ access, server: heir, servers: servers.slice(1) }),
      ).rejects.toMatchObject({ type: 'ValkeyNotConverged' });
      expect(await role(heir)).toBe('slave');
    });
  });
}
