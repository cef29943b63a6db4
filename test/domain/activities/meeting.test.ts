import { describe, expect, test } from 'vitest';
import { findMissing } from '../../../activities/valkey/await-health.ts';
import { planEpochs, planMeetings, strangersOf } from '../../../activities/valkey/meeting.ts';
import { buildView, type View } from '../../../activities/valkey/view.ts';

const id = (n: number): string => String(n).padStart(40, '0');

interface Known {
  readonly n: number;
  readonly at?: number;
  readonly link?: string;
  readonly flags?: string;
  readonly master?: number;
  readonly slots?: string;
}

/** The view of server `self`, which knows itself and the others given. */
function view(
  self: number,
  others: readonly Known[] = [],
  own: Partial<Known> & { epoch?: number; ok?: boolean } = {},
): View {
  const lines = [{ n: self, ...own }, ...others].map(
    ({ n, at, link = 'connected', flags, master, slots = '' }) => {
      const role = flags ?? (master === undefined ? 'master' : 'slave');
      const mark = n === self ? `myself,${role}` : role;
      return `${id(n)} 10.0.0.${at ?? n}:6379@16379 ${mark} ${master === undefined ? '-' : id(master)} 0 0 ${own.epoch ?? 0} ${link} ${slots}`;
    },
  );
  const assigned = lines.join(' ').includes('0-16383') ? 16_384 : own.slots === undefined ? 0 : 100;
  const info = `cluster_state:${own.ok === false ? 'fail' : 'ok'}\ncluster_slots_assigned:${assigned}\ncluster_current_epoch:${own.epoch ?? 0}`;
  return buildView(`p-${self}`, lines.join('\n'), info);
}
const server = (n: number) => ({ pod: `p-${n}`, podUid: `u-${n}`, ip: `10.0.0.${n}`, port: 6379 });
const meetings = (views: readonly View[]) =>
  planMeetings(views.map((one) => ({ server: server(Number(one.pod.slice(2))), view: one })));

describe('epochs', () => {
  test('are distinct for fresh servers', () => {
    expect(planEpochs([view(1), view(2), view(3)])).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
    ]);
  });

  test('of new servers are above all that a cluster has', () => {
    expect(planEpochs([view(1, [{ n: 2 }], { epoch: 7 }), view(3), view(4)])).toEqual([
      [1, 8],
      [2, 9],
    ]);
  });

  test('are given once: not to a server that has one, knows somebody, or begins to', () => {
    const begun = view(3, [{ n: 9, flags: 'handshake', link: 'disconnected' }]);
    expect(planEpochs([view(1, [], { epoch: 4 }), view(2, [{ n: 1 }]), begun])).toEqual([]);
  });
});

describe('meetings', () => {
  test('go both ways between all who have not met', () => {
    expect(meetings([view(1), view(2)])).toEqual({
      meet: [
        [0, 1],
        [1, 0],
      ],
      missing: 2,
      among: 'all',
    });
  });

  test('leave a verdict of failure alone: it is withdrawn when the node is seen to answer', () => {
    const judged = view(1, [{ n: 2, flags: 'master,fail' }]);
    expect(meetings([judged, view(2, [{ n: 1 }])])).toMatchObject({ meet: [], missing: 0 });
  });

  test('leave those alone who see each other', () => {
    expect(meetings([view(1, [{ n: 2 }]), view(2, [{ n: 1 }])])).toMatchObject({ meet: [], missing: 0 });
  });

  test.each([
    ['an address that is not its own any more', { n: 2, at: 9 }],
    ['a link that is down', { n: 2, link: 'disconnected' }],
  ])('are made again where one knows the other by %s', (_, known) => {
    expect(meetings([view(1, [known]), view(2, [{ n: 1 }])])).toMatchObject({ meet: [[0, 1]], missing: 1 });
  });

  describe('of all who came back at other addresses', () => {
    const lost = (n: number, flags = 'master'): Known => ({ n, at: n + 100, link: 'disconnected', flags });
    const replica = view(3, [lost(1), lost(2)], { master: 1 });

    test('are those of masters with slots first', () => {
      const apart = [
        view(1, [lost(2)], { slots: '0-99' }),
        view(2, [lost(1)], { slots: '100-199' }),
        replica,
      ];
      expect(meetings(apart)).toEqual({
        meet: [
          [0, 1],
          [1, 0],
        ],
        missing: 6,
        among: 'voters',
      });
    });

    test('wait while such a master is called failed: a replica would be elected in its place', () => {
      const judging = [
        view(1, [{ n: 2, flags: 'master,fail' }], { slots: '0-99' }),
        view(2, [{ n: 1 }], { slots: '100-199' }),
        replica,
      ];
      expect(meetings(judging)).toEqual({ meet: [], missing: 4, among: 'voters' });
    });

    test('go on with everybody then', () => {
      const peace = [
        view(1, [{ n: 2 }], { slots: '0-99' }),
        view(2, [{ n: 1 }], { slots: '100-199' }),
        replica,
      ];
      expect(meetings(peace)).toMatchObject({ missing: 4, among: 'all' });
      expect(meetings(peace).meet).toHaveLength(4);
    });
  });

  test('in a large cluster stay few for each server, and reach everybody', () => {
    const views = Array.from({ length: 200 }, (_, at) => view(at));
    const { meet, missing } = meetings(views);
    expect(missing).toBe(200 * 199);
    const perServer = Map.groupBy(meet, ([from]) => from);
    expect(Math.max(...[...perServer.values()].map((some) => some.length))).toBeLessThanOrEqual(18);
    const reached = new Set([0]);
    for (const at of reached) for (const [, to] of perServer.get(at) ?? []) reached.add(to);
    expect(reached.size).toBe(200);
  });
});

describe('strangers', () => {
  test('are none among fresh servers and one cluster', () => {
    expect(strangersOf([view(1, [{ n: 2 }], { slots: '0-99' }), view(2, [{ n: 1 }]), view(3)])).toBeNull();
  });

  test('are the smaller of two clusters that both serve slots', () => {
    const big = [view(1, [{ n: 2 }], { slots: '0-99' }), view(2, [{ n: 1 }])];
    expect(strangersOf([...big, view(7, [], { slots: '0-99' })])).toEqual(['p-7']);
  });

  test('are not servers that know each other through a third one', () => {
    const chain = [
      view(1, [{ n: 2 }], { slots: '0-99' }),
      view(3, [{ n: 2 }], { slots: '100-199' }),
      view(2),
    ];
    expect(strangersOf(chain)).toBeNull();
  });
});

describe('what is missing for health', () => {
  const all: Known[] = [
    { n: 1, slots: '0-16383' },
    { n: 2, master: 1 },
  ];
  const master = (over = {}): View => view(1, [all[1] ?? { n: 2 }], { slots: '0-16383', ...over });
  const replica = (over: Partial<Known> = {}): View => view(2, [all[0] ?? { n: 1 }], { master: 1, ...over });
  const up = (one: View) => ({ view: one, linkUp: true });

  test('is nothing when all slots are served, all replicas linked and all views equal', () => {
    expect(findMissing([up(master()), up(replica())], 1, 1)).toEqual([]);
  });

  test.each([
    [[up(master()), { view: replica(), linkUp: false }], 1, 1, ['without a link to the master: p-2']],
    [[up(master()), up(replica())], 2, 1, ['1 of 2 masters serve slots']],
    [[up(master()), up(replica())], 1, 2, ['without all replicas: p-1']],
    [[up(master({ ok: false })), up(replica())], 1, 1, ['the state is not ok at p-1']],
  ])('is named (%#)', (seen, masters, replicas, words) => {
    expect(findMissing(seen, masters, replicas)).toEqual(words);
  });

  test('includes a member that somebody suspects', () => {
    const worried = view(1, [{ n: 2, master: 1, flags: 'slave,fail?' }], { slots: '0-16383' });
    expect(findMissing([up(worried), up(replica())], 1, 1)).toContain('a member seems to fail to p-1');
  });
});
