import { describe, expect, test } from 'vitest';
import { parseClusterNodes } from '../../../activities/valkey/cluster-nodes.ts';
import { parseClusterState, parseServerInfo } from '../../../activities/valkey/info.ts';
import { recorded, VERSIONS } from './recording.ts';

const ID = 'a'.repeat(40);
const line = (fields: string): string => `${ID} ${fields}`;

describe.each(VERSIONS)('what Valkey %s answers', (version) => {
  test('has every member once, and itself marked', () => {
    const nodes = parseClusterNodes(recorded(version, 'nodes-open')).filter((node) => !node.handshake);
    expect(nodes).toHaveLength(6);
    expect(nodes.filter((node) => node.myself)).toHaveLength(1);
    expect(nodes.filter((node) => node.role === 'master')).toHaveLength(3);
    expect(nodes.filter((node) => node.role === 'replica')).toHaveLength(3);
  });

  test('gives a master several ranges and its open slot, which is no range', () => {
    const self = parseClusterNodes(recorded(version, 'nodes-open')).find((node) => node.myself);
    expect(self?.slots).toEqual([
      [0, 99],
      [102, 199],
      [201, 5460],
    ]);
    expect(self?.openSlots).toEqual([
      { slot: 93, direction: 'migrating', peer: expect.stringMatching(/^[0-9a-f]{40}$/) },
    ]);
  });

  test('names the importing side of an open slot too, and a range of a single slot', () => {
    const self = parseClusterNodes(recorded(version, 'nodes-importing')).find((node) => node.myself);
    expect(self?.slots).toEqual([
      [100, 101],
      [200, 200],
      [5461, 10922],
    ]);
    expect(self?.openSlots).toMatchObject([{ slot: 93, direction: 'importing' }]);
  });

  test('keeps a node that is still shaking hands apart', () => {
    const stranger = parseClusterNodes(recorded(version, 'nodes-open')).find((node) => node.handshake);
    expect(stranger).toMatchObject({ role: 'unknown', masterId: null, slots: [] });
    expect(stranger?.ip).toMatch(/\.77$/);
  });

  test('tells a suspicion from a verdict', () => {
    const suspected = parseClusterNodes(recorded(version, 'nodes-suspected')).filter(
      (node) => node.failing !== 'no',
    );
    expect(suspected).toMatchObject([{ failing: 'suspected', role: 'replica' }]);
    const failed = parseClusterNodes(recorded(version, 'nodes-noaddr')).filter(
      (node) => node.failing === 'failed',
    );
    expect(failed).toMatchObject([{ failing: 'failed', noAddress: true, ip: '', port: 0, connected: false }]);
  });

  test('leads every replica to its master', () => {
    const nodes = parseClusterNodes(recorded(version, 'nodes-open'));
    const masters = new Set(nodes.filter((node) => node.role === 'master').map((node) => node.id));
    for (const node of nodes.filter((one) => one.role === 'replica'))
      expect(masters).toContain(node.masterId);
  });

  test('says its own version, not the one that it claims for old clients, and that the first copy is on its way', () => {
    const info = parseServerInfo(recorded(version, 'info-replica'));
    expect(info).toMatchObject({ version, linkUp: false, keys: 0 });
    expect(info.usedMemory).toBeGreaterThan(0);
    expect(info.offset).toBeGreaterThanOrEqual(0);
  });

  test('says how the cluster is', () => {
    expect(parseClusterState(recorded(version, 'cluster-info'))).toMatchObject({
      ok: true,
      slotsAssigned: 16_384,
    });
  });
});

describe('addresses', () => {
  test.each([
    ['10.0.0.5:6379@16379', { ip: '10.0.0.5', port: 6379, hostname: null }],
    ['10.0.0.5:6379@16379,cache-0-0.cache', { ip: '10.0.0.5', port: 6379, hostname: 'cache-0-0.cache' }],
    ['10.0.0.5:6379@16379,,shard-id=69bc', { ip: '10.0.0.5', port: 6379, hostname: null }],
    ['10.0.0.5:6379@16379,host,tls-port=0,shard-id=69bc', { ip: '10.0.0.5', port: 6379, hostname: 'host' }],
    ['fd00::5:6379@16379', { ip: 'fd00::5', port: 6379, hostname: null }],
    [':0@0', { ip: '', port: 0, hostname: null }],
  ])('reads %s', (address, expected) => {
    const [node] = parseClusterNodes(line(`${address} master - 0 0 7 connected 5 7-9`));
    expect(node).toMatchObject({
      ...expected,
      configEpoch: 7,
      slots: [
        [5, 5],
        [7, 9],
      ],
    });
  });
});

describe('what is not CLUSTER NODES', () => {
  test.each([
    'hello',
    line('10.0.0.5:6379@16379 master - 0 0 1 connected x-y'),
    line('a:1@2 master - 0 0 1 connected [5]'),
  ])('refuses %s', (text) => expect(() => parseClusterNodes(text)).toThrow(/this is no/));
});

describe('INFO', () => {
  test('adds up the keys of all databases', () => {
    const text =
      '# Keyspace\r\ndb0:keys=12,expires=0,avg_ttl=0\r\ndb3:keys=30,expires=1,avg_ttl=9\r\nrole:master\r\n';
    expect(parseServerInfo(text)).toMatchObject({ keys: 42, linkUp: null });
  });

  test('does not call a link up while the first copy is still being loaded', () => {
    const text = 'role:slave\r\nmaster_link_status:up\r\nmaster_sync_in_progress:1\r\n';
    expect(parseServerInfo(text).linkUp).toBe(false);
  });
});
