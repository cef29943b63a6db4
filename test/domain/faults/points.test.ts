import { describe, expect, it } from 'vitest';
import {
  hitAt,
  scheduleRuns,
  selectPoints,
  unsteadyClasses,
  type Hit,
  type Point,
} from '../../faults/points.ts';
import { Random } from '../../simulation/engine/random.ts';

const place = (activityId: string, activityType = 'applyKubernetesObjects') => ({
  workflowId: 'valkey-cluster/default/cache/create/12345678-1.1',
  activityType,
  activityId,
});
const request = (target: string, index = 0) => ({
  index,
  mutation: { system: 'kubernetes', verb: 'apply', target },
});
const hit = (name: string, key: string): Hit => ({ class: name, key });
const point = (name: string, occurrence = 1): Point => ({ class: name, occurrence });

describe('a place to die', () => {
  it('is of one class with those that differ by shard or ordinal only', () => {
    const [a, b] = ['StatefulSet/cache-2', 'StatefulSet/cache-10'].map((target, at) =>
      hitAt(place(String(at)), 'before request', request(target)),
    );
    expect(a?.class).toBe('create applyKubernetesObjects: before request kubernetes apply StatefulSet');
    expect(b?.class).toBe(a?.class);
    expect(b?.key).not.toBe(a?.key);
  });

  it('is the same in another attempt at the same activity', () => {
    expect(hitAt(place('7'), 'before result')).toEqual(hitAt(place('7'), 'before result'));
  });

  it('belongs to the entity when no operation runs it', () => {
    const entity = { ...place('1'), workflowId: 'valkey-cluster/default/cache' };
    expect(hitAt(entity, 'before result').class).toBe('entity applyKubernetesObjects: before result');
  });
});

describe('the points of an operation', () => {
  const first = [hit('a', '1'), hit('b', '1'), hit('a', '2'), hit('a', '2'), hit('a', '3'), hit('c', '1')];

  it('are the first and the last of each class, in the order in which they come', () => {
    expect(selectPoints([first])).toEqual([point('a', 1), point('b'), point('a', 3), point('c')]);
  });

  it('are only those that every recording came to; the rest is told', () => {
    const second = [hit('a', '1'), hit('a', '2'), hit('b', '1')];
    expect(selectPoints([first, second])).toEqual([point('a', 1), point('b'), point('a', 2)]);
    expect(unsteadyClasses([first, second])).toEqual(['c']);
  });

  it('leave out how often a request was refused before it was taken', () => {
    const [before, after] = ['move: before request slots', 'move: after request slots'];
    const tries = ['1', '2', '3', '4'].map((key) => hit(before, key));
    expect(selectPoints([[...tries, hit(after, '3'), hit(after, '4')]])).toEqual([
      point(before, 1),
      point(before, 2),
      point(after, 1),
      point(after, 2),
    ]);
    expect(selectPoints([tries])).toEqual([point(before, 1), point(before, 4)]);
  });
});

describe('runs', () => {
  const points = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => point(name));

  it('take as many kills as they may, in order and far apart, and every point once', () => {
    const runs = scheduleRuns(points, 3, [], new Random('1'));
    expect(runs).toHaveLength(3);
    expect(
      runs
        .flat()
        .map((one) => one.class)
        .toSorted(),
    ).toEqual(points.map((one) => one.class));
    for (const run of runs) {
      const at = run.map((one) => points.indexOf(one));
      expect(at).toEqual(at.toSorted((a, b) => a - b));
      expect(Math.min(...at.slice(1).map((later, index) => later - (at[index] ?? 0)))).toBeGreaterThan(0);
    }
  });

  it('are drawn anew by another seed, and alike by the same', () => {
    const drawn = (seed: string) => JSON.stringify(scheduleRuns(points, 3, [], new Random(seed)));
    expect(drawn('1')).toBe(drawn('1'));
    expect(new Set(['1', '2', '3', '4', '5'].map(drawn)).size).toBeGreaterThan(1);
  });

  it('have what cannot be undone to themselves', () => {
    const runs = scheduleRuns(points, 7, [/[bd]/], new Random('1'));
    expect(runs.map((run) => run.map((one) => one.class).join(''))).toEqual(['acefg', 'b', 'd']);
  });
});
