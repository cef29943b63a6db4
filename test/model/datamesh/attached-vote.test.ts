import { expect, test } from 'vitest';
import { partitionsOf } from './bits.ts';

/** How d1 or d2 may be configured while s comes to vote in 2D+1TB, with every q, t1 counted or not, s as its disk lets it be. */
interface Config {
  readonly q: number;
  readonly countsTie: boolean;
  readonly shadow: 'hidden' | 'tie-breaker' | 'voter';
}

const NODES = ['d1', 'd2', 't1', 's'] as const;
type Node = (typeof NODES)[number];
type State = Readonly<Record<'d1' | 'd2' | 's', Config>>;

/** The kernel's rule for one node that had quorum, among the members that it sees; qmr is 1 and voters are not dynamic. */
function hasQuorum(state: State, node: Node, seen: readonly Node[]): boolean {
  if (node === 't1') return false;
  const { q, countsTie, shadow } = state[node];
  const others = NODES.filter((one) => one !== node && one !== 't1');
  const voters = others.filter((one) => one !== 's' || shadow === 'voter');
  const ties = [
    ...(countsTie ? ['t1' as const] : []),
    ...(node !== 's' && shadow === 'tie-breaker' ? ['s' as const] : []),
  ];
  const votes = 1 + voters.filter((one) => seen.includes(one)).length;
  if (votes >= q) return true;
  const present = ties.filter((one) => seen.includes(one)).length;
  return votes === q - 1 && (1 + voters.length) % 2 === 0 && present > ties.length / 2;
}

const serves = (state: State, group: readonly Node[]): boolean =>
  group.some((node) => hasQuorum(state, node, group));

/** No cut lets two groups serve, and the loss of any one member leaves some that serve. */
function isSafe(state: State): boolean {
  const lonely = NODES.every((lost) =>
    serves(
      state,
      NODES.filter((node) => node !== lost),
    ),
  );
  return (
    lonely &&
    partitionsOf(NODES.length).every((labels) => {
      const groups = [0, 1, 2, 3].map((label) => NODES.filter((_, at) => labels[at] === label));
      return groups.filter((group) => serves(state, group)).length < 2;
    })
  );
}

const configs = (shadows: readonly Config['shadow'][], qs: readonly number[]): readonly Config[] =>
  qs.flatMap((q) =>
    [true, false].flatMap((countsTie) => shadows.map((shadow) => ({ q, countsTie, shadow }))),
  );

/** Whether some way of changing one node at a time, however much at once, leads to a vote for s through safe states only. */
function canVote(shadows: readonly Config['shadow'][], own: readonly number[]): boolean {
  const choices = {
    d1: configs(shadows, [1, 2, 3, 4]),
    d2: configs(shadows, [1, 2, 3, 4]),
    s: configs(['voter'], own),
  };
  const before = { q: 2, countsTie: true, shadow: 'hidden' } as const;
  const start: State = { d1: before, d2: before, s: { q: 32, countsTie: true, shadow: 'voter' } };
  const known = new Set([JSON.stringify(start)]);
  const queue = [start];
  for (let state = queue.shift(); state !== undefined; state = queue.shift()) {
    if (state.d1.shadow === 'voter' && state.d2.shadow === 'voter') return true;
    for (const node of ['d1', 'd2', 's'] as const) {
      for (const config of choices[node]) {
        const next = { ...state, [node]: config };
        const key = JSON.stringify(next);
        if (known.has(key) || !isSafe(next)) continue;
        known.add(key);
        queue.push(next);
      }
    }
  }
  return false;
}

test('2D+1TB: no commands in any order let a shadow vote with its disk attached and survive one loss all the while', () => {
  expect(canVote(['hidden', 'voter'], [1, 2, 3, 32])).toBe(false);
});

test('2D+1TB: without its disk it can be shown as a tie-breaker first, and then there is a way', () => {
  expect(canVote(['hidden', 'tie-breaker', 'voter'], [32])).toBe(true);
});
