import { describe, expect, test } from 'vitest';
import { memberOf, type Mesh } from '../../../workflows/datamesh/domain/mesh.ts';
import type { Intent, Member } from '../../../workflows/datamesh/domain/observed.ts';
import { exploreTracks, meshOn, PARTITIONS, withoutWaves } from './defects.ts';
import type { Measures } from './measures.ts';
import type { Network, Track } from './scenario.ts';
import { intentsIn, trackOf } from './scenes.ts';

const HALVES: Network = { ...PARTITIONS, cuts: 'halves' };

/** What a judgement is made from, without the states that show it. */
const judged = (found: Measures): readonly (number | boolean)[] => [
  found.splitBrain >= 0,
  Math.min(found.copiesByCount, found.copiesByTie, found.copiesByClient),
  found.ftt,
  found.interrupted >= 0,
  found.stuck >= 0,
  found.stranded >= 0,
];

function expectSame(kernel: string, mesh: Mesh, track: Track): boolean {
  const all = exploreTracks(kernel, mesh, [track], { network: PARTITIONS }).measures;
  const halves = exploreTracks(kernel, mesh, [track], { network: HALVES }).measures;
  expect(judged(halves)).toEqual(judged(all));
  return all.splitBrain >= 0;
}

describe('cutting into two groups finds what cutting into any number does', { timeout: 120_000 }, () => {
  test.each([
    ['vanilla', { D: 2, TB: 1 }, 1],
    ['vanilla', { D: 3 }, 2],
    ['flant', { D: 2, TB: 1 }, 1],
    ['flant', { D: 2, sD: 1 }, 2],
  ] as const)('on %s with %o and qmr %i, whatever is changed', (kernel, counts, qmr) => {
    const mesh = meshOn(kernel, counts, qmr);
    for (const intent of intentsIn(mesh, kernel === 'flant'))
      expect(expectSame(kernel, mesh, trackOf(mesh, intent))).toBe(false);
  });

  test('also where a plan is wrong: two writers are found either way', () => {
    const mesh = meshOn('vanilla', { D: 3, TB: 1 }, 1);
    const remove: Intent = { op: 'RemoveMember', member: 'd3' };
    const subject: Member = memberOf(mesh, 'd3');
    const wrong = { ...trackOf(mesh, remove), steps: withoutWaves(mesh, subject, remove) };
    expect(expectSame('vanilla', mesh, { label: wrong.label, member: 'd3', steps: wrong.steps })).toBe(true);
  });
});
