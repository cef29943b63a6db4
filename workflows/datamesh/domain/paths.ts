import type { MemberState, MemberType } from './member-states.ts';

export type MembershipOp = 'AddMember' | 'RemoveMember' | 'ChangeMemberType';
/** The voters before and after, when a row holds for one parity only. */
export type Parity = 'even→odd' | 'odd→even';
export type QuorumChange = 'q↑' | 'q↓';

/** One arrow of a path: a step of the plan. */
export interface Arrow {
  readonly from: MemberState;
  readonly to: MemberState;
  readonly q: QuorumChange | null;
}

/** One row of the specification: a transition, its way, and when it is this row. */
export interface Path {
  readonly op: MembershipOp;
  readonly from: MemberState;
  readonly to: MemberState;
  /** Null where the row holds on every kernel. */
  readonly flant: boolean | null;
  readonly parity: Parity | null;
  readonly arrows: readonly Arrow[];
  /** The name that runs persist, with its version. */
  readonly plan: string;
  /** The specification's own spelling of the row. */
  readonly title: string;
  readonly way: string;
  readonly when: string;
}

type Row = readonly [title: string, way: string, when: string, plan: string];

/** The specification's three tables, letter for letter, with the plan that each row is. */
const ROWS: readonly Row[] = [
  ['AddMember(A)', '✦ → A', 'always', 'add-access/v1'],
  ['AddMember(TB)', '✦ → TB', 'always', 'add-tiebreaker/v1'],
  ['AddMember(D)', '✦ → D∅ → D', 'no flant-drbd, even→odd voters', 'add-diskful/v1'],
  ['AddMember(D) + q↑', '✦ → A → D∅ + q↑ → D', 'no flant-drbd, odd→even voters', 'add-diskful-q-up/v1'],
  ['AddMember(D) via sD', '✦ → sD∅ → sD → D', 'flant-drbd, even→odd voters', 'add-diskful-via-sd/v1'],
  [
    'AddMember(D) via sD + q↑',
    '✦ → sD∅ → sD → sD∅ → D∅ + q↑ → D',
    'flant-drbd, odd→even voters',
    'add-diskful-via-sd-q-up/v1',
  ],
  ['AddMember(sD)', '✦ → sD∅ → sD', 'flant-drbd', 'add-shadow-diskful/v1'],

  ['RemoveMember(A)', 'A → ✕', 'always', 'remove-access/v1'],
  ['RemoveMember(TB)', 'TB → ✕', 'always', 'remove-tiebreaker/v1'],
  ['RemoveMember(D)', 'D → D∅ → ✕', 'odd→even voters', 'remove-diskful/v1'],
  ['RemoveMember(D) + q↓', 'D → D∅ → A + q↓ → ✕', 'even→odd voters', 'remove-diskful-q-down/v1'],
  ['RemoveMember(sD)', 'sD → sD∅ → ✕', 'flant-drbd', 'remove-shadow-diskful/v1'],

  ['ChangeMemberType(A, TB)', 'A → TB', 'always', 'a-to-tb/v1'],
  ['ChangeMemberType(TB, A)', 'TB → A', 'always', 'tb-to-a/v1'],
  ['ChangeMemberType(A, D)', 'A → D∅ → D', 'no flant-drbd, even→odd voters', 'a-to-d/v1'],
  ['ChangeMemberType(A, D) + q↑', 'A → D∅ + q↑ → D', 'no flant-drbd, odd→even voters', 'a-to-d-q-up/v1'],
  ['ChangeMemberType(A, D) via sD', 'A → sD∅ → sD → D', 'flant-drbd, even→odd voters', 'a-to-d-via-sd/v1'],
  [
    'ChangeMemberType(A, D) via sD + q↑',
    'A → sD∅ → sD → sD∅ → D∅ + q↑ → D',
    'flant-drbd, odd→even voters',
    'a-to-d-via-sd-q-up/v1',
  ],
  ['ChangeMemberType(D, A)', 'D → D∅ → A', 'odd→even voters', 'd-to-a/v1'],
  ['ChangeMemberType(D, A) + q↓', 'D → D∅ → A + q↓', 'even→odd voters', 'd-to-a-q-down/v1'],
  ['ChangeMemberType(TB, D)', 'TB → D∅ → D', 'no flant-drbd, even→odd voters', 'tb-to-d/v1'],
  ['ChangeMemberType(TB, D) + q↑', 'TB → D∅ + q↑ → D', 'no flant-drbd, odd→even voters', 'tb-to-d-q-up/v1'],
  ['ChangeMemberType(TB, D) via sD', 'TB → sD∅ → sD → D', 'flant-drbd, even→odd voters', 'tb-to-d-via-sd/v1'],
  [
    'ChangeMemberType(TB, D) via sD + q↑',
    'TB → sD∅ → sD → sD∅ → D∅ + q↑ → D',
    'flant-drbd, odd→even voters',
    'tb-to-d-via-sd-q-up/v1',
  ],
  ['ChangeMemberType(D, TB)', 'D → D∅ → TB', 'odd→even voters', 'd-to-tb/v1'],
  ['ChangeMemberType(D, TB) + q↓', 'D → D∅ → TB + q↓', 'even→odd voters', 'd-to-tb-q-down/v1'],
  ['ChangeMemberType(A, sD)', 'A → sD∅ → sD', 'flant-drbd', 'a-to-sd/v1'],
  ['ChangeMemberType(sD, A)', 'sD → sD∅ → A', 'flant-drbd', 'sd-to-a/v1'],
  ['ChangeMemberType(TB, sD)', 'TB → sD∅ → sD', 'flant-drbd', 'tb-to-sd/v1'],
  ['ChangeMemberType(sD, TB)', 'sD → sD∅ → TB', 'flant-drbd', 'sd-to-tb/v1'],
  ['ChangeMemberType(sD, D)', 'sD → D', 'flant-drbd, even→odd voters', 'sd-to-d/v1'],
  [
    'ChangeMemberType(sD, D) + q↑',
    'sD → sD∅ → D∅ + q↑ → D',
    'flant-drbd, odd→even voters',
    'sd-to-d-q-up/v1',
  ],
  ['ChangeMemberType(D, sD)', 'D → sD', 'flant-drbd, odd→even voters', 'd-to-sd/v1'],
  [
    'ChangeMemberType(D, sD) + q↓',
    'D → D∅ → sD∅ + q↓ → sD',
    'flant-drbd, even→odd voters',
    'd-to-sd-q-down/v1',
  ],
];

/** All 34 paths of the specification. */
export const PATHS: readonly Path[] = ROWS.map(([title, way, when, plan]) => {
  const stops = way.split(' → ').map((stop) => stop.split(' + '));
  const state = (at: number): MemberState => (stops.at(at)?.[0] ?? '✕') as MemberState;
  return {
    op: title.slice(0, title.indexOf('(')) as MembershipOp,
    from: state(0),
    to: state(-1),
    flant: when.includes('no flant-drbd') ? false : when.includes('flant-drbd') ? true : null,
    parity: when.includes('even→odd') ? 'even→odd' : when.includes('odd→even') ? 'odd→even' : null,
    arrows: stops.slice(1).map((stop, at) => ({
      from: state(at),
      to: state(at + 1),
      q: (stop[1] as QuorumChange | undefined) ?? null,
    })),
    plan,
    title,
    way,
    when,
  };
});

/** What a membership transition is about: who moves from where to where. */
export interface Move {
  readonly op: MembershipOp;
  readonly from: MemberState;
  readonly to: MemberType | '✕';
}

/** The row for this move with so many voters now; null where the specification has none. */
export function selectPath(move: Move, flant: boolean, voters: number): Path | null {
  const rows = PATHS.filter(
    (path) =>
      path.op === move.op &&
      path.from === move.from &&
      path.to === move.to &&
      (path.flant === null || path.flant === flant),
  );
  const parity: Parity = voters % 2 === 0 ? 'even→odd' : 'odd→even';
  return rows.find((path) => path.parity === null || path.parity === parity) ?? null;
}
