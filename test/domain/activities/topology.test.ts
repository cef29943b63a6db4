import { describe, expect, test } from 'vitest';
import type { ValkeyPod } from '../../../workflows/valkey-cluster/domain/observation.ts';
import { parseServerInfo } from '../../../activities/valkey/info.ts';
import { buildTopology, type Answer } from '../../../activities/valkey/topology.ts';
import { buildView } from '../../../activities/valkey/view.ts';

const id = (n: number): string => String(n).padStart(40, '0');
const ip = (n: number): string => `10.0.0.${n}`;

interface Line {
  readonly n: number;
  readonly at?: string;
  readonly flags?: string;
  readonly master?: number;
  readonly slots?: string;
  readonly link?: string;
}

/** `CLUSTER NODES` as node `self` would print it. */
const nodesText = (self: number, lines: readonly Line[]): string =>
  lines
    .map(({ n, at, flags, master, slots = '', link = 'connected' }) => {
      const role = flags ?? (master === undefined ? 'master' : 'slave');
      const mark = n === self ? `myself,${role}` : role;
      return `${id(n)} ${at ?? ip(n)}:6379@16379 ${mark} ${master === undefined ? '-' : id(master)} 0 0 ${n} ${link} ${slots}`;
    })
    .join('\n');

const infoText = (ok = true, slots = 16_384, epoch = 6): string =>
  `cluster_state:${ok ? 'ok' : 'fail'}\ncluster_slots_assigned:${slots}\ncluster_known_nodes:4\ncluster_current_epoch:${epoch}`;

const pod = (n: number, over: Partial<ValkeyPod> = {}): Omit<ValkeyPod, 'nodeId'> => ({
  name: `cache-${n}`,
  uid: `uid-${n}`,
  shard: n % 2,
  ip: ip(n),
  node: `node-${n}`,
  zone: `zone-${n}`,
  phase: 'Running',
  ready: true,
  terminating: false,
  image: 'valkey/valkey:9.1.2',
  waiting: null,
  ...over,
});

const answer = (n: number, lines: readonly Line[], info = infoText()): Answer => ({
  pod: `cache-${n}`,
  view: buildView(`cache-${n}`, nodesText(n, lines), info),
  info: parseServerInfo(
    `valkey_version:9.1.2\nrole:${lines.find((line) => line.n === n)?.master === undefined ? 'master' : 'slave'}\nmaster_link_status:up`,
  ),
  lacksPassword: false,
});

const FORMED: readonly Line[] = [
  { n: 1, slots: '0-8191' },
  { n: 2, slots: '8192-16383' },
  { n: 3, master: 1 },
  { n: 4, master: 2 },
];
const PODS = [1, 2, 3, 4].map((n) => pod(n));
const formedAnswers = (lines = FORMED): Answer[] => [1, 2, 3, 4].map((n) => answer(n, lines));

describe('a formed cluster', () => {
  const topology = buildTopology(PODS, formedAnswers());

  test('knows of each pod which node it is, its shard by its label and its role by its server', () => {
    expect(topology.pods.map(({ name, nodeId }) => [name, nodeId])).toEqual(
      [1, 2, 3, 4].map((n) => [`cache-${n}`, id(n)]),
    );
    expect(topology.nodes.map(({ shard, role, masterId }) => [shard, role, masterId])).toEqual([
      [1, 'master', null],
      [0, 'master', null],
      [1, 'replica', id(1)],
      [0, 'replica', id(2)],
    ]);
  });

  test('is healthy, agrees and has no orphans', () => {
    expect(topology.health).toEqual({
      ok: true,
      slotsAssigned: 16_384,
      viewsAgree: true,
      answered: 4,
      unreachable: [],
      apart: [],
    });
    expect(topology.orphans).toEqual([]);
  });

  test('has a link state for replicas only', () => {
    expect(topology.nodes.map((node) => node.linkUp)).toEqual([undefined, undefined, true, true]);
  });
});

test('servers that have not met are masters without slots, and do not agree', () => {
  const topology = buildTopology(
    PODS,
    [1, 2, 3, 4].map((n) => answer(n, [{ n }], infoText(false, 0, 0))),
  );
  expect(topology.nodes).toHaveLength(4);
  expect(topology.nodes.every((node) => node.role === 'master' && node.slots.length === 0)).toBe(true);
  expect(topology.health).toMatchObject({ ok: false, slotsAssigned: 0, viewsAgree: false });
});

test('a new server beside a formed cluster takes nothing from what is known of the cluster', () => {
  const topology = buildTopology(
    [...PODS, pod(5)],
    [answer(5, [{ n: 5 }], infoText(false, 0, 0)), ...formedAnswers()],
  );
  expect(topology.health).toMatchObject({ slotsAssigned: 16_384, viewsAgree: false, ok: false });
  expect(topology.nodes.find((node) => node.pod === 'cache-5')).toMatchObject({ id: id(5), slots: [] });
});

test('a pod that does not answer is known by its address, and is not ready whatever its probe says', () => {
  const answers = [...formedAnswers().slice(0, 3), { pod: 'cache-4', why: 'connect ETIMEDOUT' }];
  const topology = buildTopology(PODS, answers);
  expect(topology.nodes.find((node) => node.pod === 'cache-4')).toMatchObject({
    id: id(4),
    role: 'replica',
    ready: false,
  });
  expect(topology.health.unreachable).toEqual([{ pod: 'cache-4', why: 'connect ETIMEDOUT' }]);
  expect(topology.orphans).toEqual([]);
});

test('an address is compared as a whole, so that 10.0.0.1 is not 10.0.0.10', () => {
  const lines = [...FORMED, { n: 10, master: 1 }];
  const answers = formedAnswers(lines).slice(1);
  const topology = buildTopology(PODS, answers);
  expect(topology.nodes.find((node) => node.pod === 'cache-1')?.id).toBe(id(1));
  expect(topology.orphans.map((orphan) => orphan.id)).toEqual([id(10)]);
});

test('a pod that came back at another address is the node that it says it is, not an orphan', () => {
  const stale = FORMED.map((line) => (line.n === 4 ? { ...line, at: '10.9.9.9' } : line));
  const topology = buildTopology(PODS, [1, 2, 3].map((n) => answer(n, stale)).concat(answer(4, FORMED)));
  expect(topology.pods[3]?.nodeId).toBe(id(4));
  expect(topology.orphans).toEqual([]);
});

test('a member without a pod is an orphan, with its slots, and failed when the majority says so', () => {
  const lines: Line[] = [
    ...FORMED.slice(0, 3),
    { n: 4, at: '10.9.9.9', flags: 'slave,fail', master: 2, link: 'disconnected' },
  ];
  const topology = buildTopology(
    PODS.slice(0, 3),
    [1, 2, 3].map((n) => answer(n, lines)),
  );
  expect(topology.orphans).toEqual([
    { id: id(4), address: '10.9.9.9:6379', role: 'replica', slots: [], failed: true, unreachable: true },
  ]);
});

test('an orphan that is only suspected by somebody has not failed', () => {
  const lines: Line[] = [...FORMED.slice(0, 3), { n: 4, flags: 'master,fail?', slots: '5' }];
  const topology = buildTopology(
    PODS.slice(0, 3),
    [1, 2, 3].map((n) => answer(n, lines)),
  );
  expect(topology.orphans).toMatchObject([{ id: id(4), role: 'master', slots: [[5, 5]], failed: false }]);
});

test('what still shakes hands is no member, no orphan and no disagreement', () => {
  const shaking: Line[] = [...FORMED, { n: 77, flags: 'handshake', link: 'disconnected' }];
  const topology = buildTopology(PODS, [answer(1, shaking), ...formedAnswers().slice(1)]);
  expect(topology.orphans).toEqual([]);
  expect(topology.health.viewsAgree).toBe(true);
});

test('one node with other slots is a disagreement', () => {
  const other = FORMED.map((line) => (line.n === 1 ? { ...line, slots: '0-8000' } : line));
  const topology = buildTopology(PODS, [
    answer(3, other),
    ...formedAnswers().filter((one) => one.pod !== 'cache-3'),
  ]);
  expect(topology.health.viewsAgree).toBe(false);
});

test('open slots are those that a node says of itself', () => {
  const open = FORMED.map((line) => (line.n === 1 ? { ...line, slots: `0-8191 [93->-${id(2)}]` } : line));
  const topology = buildTopology(PODS, [answer(1, open), ...formedAnswers().slice(1)]);
  expect(topology.nodes[0]?.openSlots).toEqual([{ slot: 93, direction: 'migrating', peer: id(2) }]);
  expect(topology.nodes[1]).not.toHaveProperty('openSlots');
});

test('without any answer nothing is claimed', () => {
  const topology = buildTopology(PODS, []);
  expect(topology.nodes).toEqual([]);
  expect(topology.health).toEqual({
    ok: false,
    slotsAssigned: 0,
    viewsAgree: false,
    answered: 0,
    unreachable: [],
    apart: [],
  });
});
