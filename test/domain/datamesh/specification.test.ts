import { describe, expect, test } from 'vitest';
import { KERNEL_FACTS, KERNELS } from '../../../workflows/datamesh/domain/kernels.ts';
import {
  LAYOUT_EDGES,
  LAYOUTS,
  layoutOf,
  layoutWay,
  quorumOf,
  refuseLayout,
} from '../../../workflows/datamesh/domain/layouts.ts';
import {
  isVoter,
  MEMBER_STATES,
  STATE_FACTS,
  type MemberState,
} from '../../../workflows/datamesh/domain/member-states.ts';
import { PATHS, selectPath, type MembershipOp } from '../../../workflows/datamesh/domain/paths.ts';
import { QUORUM_ORDERS, selectQuorumOrder } from '../../../workflows/datamesh/domain/quorum-orders.ts';

describe('the eight states', () => {
  test('are written with exactly the specification’s characters', () => {
    expect(
      MEMBER_STATES.map((state) => Array.from(state, (c) => c.codePointAt(0)?.toString(16)).join(' ')),
    ).toEqual(['2726', '41', '54 42', '44 2205', '44', '2715', '73 44', '73 44 2205']);
  });

  test.each([
    ['D', 'voter disk volume fullMesh seen bitmap'],
    ['D∅', 'voter volume fullMesh seen bitmap transitional'],
    ['sD', 'disk volume fullMesh bitmap'],
    ['sD∅', 'volume fullMesh bitmap transitional'],
    ['TB', 'seen'],
    ['A', ''],
  ] as const)('%s is %s and nothing else', (state, words) => {
    const { name: _n, description: _d, member, ...flags } = STATE_FACTS[state];
    expect(member).toBe(true);
    expect(
      Object.entries(flags)
        .filter(([, value]) => value)
        .map(([key]) => key)
        .sort(),
    ).toEqual(words.split(' ').filter(Boolean).sort());
  });

  test('✦ and ✕ are no members', () => {
    expect([STATE_FACTS['✦'].member, STATE_FACTS['✕'].member]).toEqual([false, false]);
  });
});

describe('the paths', () => {
  test('are 7 to add, 5 to remove and 22 to change the type', () => {
    const count = (op: MembershipOp): number => PATHS.filter((path) => path.op === op).length;
    expect([count('AddMember'), count('RemoveMember'), count('ChangeMemberType')]).toEqual([7, 5, 22]);
    expect(new Set(PATHS.map((path) => path.plan)).size).toBe(34);
  });

  test.each(PATHS.map((path) => [path.title, path.way, path] as const))(
    '%s goes %s, and q changes where the voters’ number asks for it',
    (_title, _way, path) => {
      let voters = path.parity === 'odd→even' ? 3 : 4;
      let q = quorumOf(voters);
      let at: MemberState = path.from;
      for (const arrow of path.arrows) {
        expect(arrow.from).toBe(at);
        voters += Number(isVoter(arrow.to)) - Number(isVoter(arrow.from));
        const expected = quorumOf(voters) > q ? 'q↑' : quorumOf(voters) < q ? 'q↓' : null;
        expect(arrow.q).toBe(expected);
        q = quorumOf(voters);
        at = arrow.to;
      }
      expect(at).toBe(path.to);
    },
  );

  test('every pair that the tables have no row for is refused, on every kernel and parity', () => {
    const known = new Set(PATHS.map((path) => `${path.op} ${path.from} ${path.to}`));
    const ops: readonly MembershipOp[] = ['AddMember', 'RemoveMember', 'ChangeMemberType'];
    let refused = 0;
    for (const op of ops)
      for (const from of MEMBER_STATES)
        for (const to of ['A', 'TB', 'D', 'sD', '✕'] as const)
          for (const kernel of KERNELS)
            for (const voters of [3, 4]) {
              const path = selectPath({ op, from, to }, KERNEL_FACTS[kernel].shadow, voters);
              expect(path === null || known.has(`${op} ${from} ${to}`)).toBe(true);
              refused += path === null ? 1 : 0;
            }
    expect(refused).toBeGreaterThan(500);
  });

  test('every row is chosen for its kernel and parity, and for no other', () => {
    for (const path of PATHS)
      for (const kernel of KERNELS)
        for (const voters of [1, 2, 3, 4, 5]) {
          const flant = KERNEL_FACTS[kernel].shadow;
          const chosen = selectPath({ op: path.op, from: path.from, to: path.to as 'A' }, flant, voters);
          const fits =
            (path.flant ?? flant) === flant &&
            (path.parity === null || (path.parity === 'even→odd') === (voters % 2 === 0));
          expect(chosen?.plan === path.plan).toBe(fits);
        }
  });
});

describe('the layouts', () => {
  test.each([
    [0, 0, '1D', 1, 1],
    [1, 0, '2D+1TB', 2, 1],
    [0, 1, '2D', 2, 2],
    [1, 1, '3D', 2, 2],
    [2, 1, '4D+1TB', 3, 2],
    [1, 2, '4D', 3, 3],
    [2, 2, '5D', 3, 3],
  ])('FTT=%i GMDR=%i is %s with q=%i qmr=%i', (ftt, gmdr, name, q, qmr) => {
    expect(layoutOf(ftt, gmdr)).toMatchObject({ name, q, qmr });
  });

  test.each([
    [2, 0],
    [0, 2],
    [3, 2],
    [-1, 0],
    [0.5, 0],
  ])('FTT=%d GMDR=%d is refused with the rule', (ftt, gmdr) => {
    expect(refuseLayout(ftt, gmdr)).toMatch(/must be/u);
  });

  test('the graph has eight edges', () => {
    expect(
      LAYOUT_EDGES.map((edge) => `${edge.lower.name}–${edge.upper.name} ${edge.parameter}`).sort(),
    ).toEqual([
      '1D–2D GMDR',
      '1D–2D+1TB FTT',
      '2D+1TB–3D GMDR',
      '2D–3D FTT',
      '3D–4D GMDR',
      '3D–4D+1TB FTT',
      '4D+1TB–5D GMDR',
      '4D–5D FTT',
    ]);
  });

  test('a way goes along edges: upwards GMDR first, downwards FTT first', () => {
    const names = (from: number, to: number): readonly string[] =>
      layoutWay(LAYOUTS[from] ?? layoutOf(0, 0), LAYOUTS[to] ?? layoutOf(0, 0)).map((layout) => layout.name);
    expect(names(0, 6)).toEqual(['1D', '2D', '3D', '4D', '5D']);
    expect(names(6, 0)).toEqual(['5D', '4D', '3D', '2D', '1D']);
    for (const from of LAYOUTS)
      for (const to of LAYOUTS) {
        const way = layoutWay(from, to);
        way
          .slice(1)
          .forEach((next, at) =>
            expect(
              Math.abs(next.ftt - (way[at]?.ftt ?? 0)) + Math.abs(next.gmdr - (way[at]?.gmdr ?? 0)),
            ).toBe(1),
          );
      }
  });
});

describe('ChangeQuorum', () => {
  test.each([
    [{ q: 3, qmr: 3 }, { q: 2, qmr: 2 }, 'lower/v1', 'qmr q'],
    [{ q: 2, qmr: 2 }, { q: 3, qmr: 3 }, 'raise/v1', 'q qmr'],
    [{ q: 3, qmr: 1 }, { q: 2, qmr: 2 }, 'lower-q-raise-qmr/v1', 'q qmr'],
    [{ q: 2, qmr: 2 }, { q: 3, qmr: 1 }, 'raise-q-lower-qmr/v1', 'q qmr'],
    [{ q: 2, qmr: 2 }, { q: 2, qmr: 1 }, 'lower/v1', 'qmr q'],
    [{ q: 2, qmr: 1 }, { q: 2, qmr: 2 }, 'raise/v1', 'q qmr'],
  ])('from %o to %o is %s: %s', (from, to, plan, order) => {
    expect(selectQuorumOrder(from, to)).toMatchObject({ plan, order: order.split(' ') });
    expect(QUORUM_ORDERS).toHaveLength(4);
  });
});
