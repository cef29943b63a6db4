import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Change } from '../../../starter/informer.ts';
import { judgeNews, sightingOf } from '../../../starter/sighting.ts';
import type { Sighting } from '../../../starter/sighting.ts';
import { decideTrigger } from '../../../starter/trigger-decision.ts';
import type { Existence } from '../../../starter/trigger-decision.ts';
import { FINALIZER } from '../../../starter/watch-definition.ts';

const OWNER = { namespace: 'default', name: 'hall' };
const there = (): Existence => 'there';
const absent = (): Existence => 'absent';
const unsure = (): Existence => 'unsure';

const sighting = (change: Partial<Sighting> = {}): Sighting => ({
  kind: 'Lamp',
  ...OWNER,
  uid: 'u1',
  generation: 1,
  deleting: false,
  finalizers: [FINALIZER],
  digest: 'd',
  operating: false,
  reported: [],
  owner: OWNER,
  problem: null,
  ...change,
});

const seen = (now: Sighting, before: Sighting | null = sighting(), resync = false): Change<Sighting> => ({
  is: 'seen',
  now,
  before,
  resync,
});

describe('what is news', () => {
  it.each([
    ['an object that was not there', null, sighting(), 'created'],
    ['another object of the same name', sighting(), sighting({ uid: 'u2' }), 'created'],
    ['a new generation', sighting(), sighting({ generation: 2 }), 'generation'],
    [
      'the deletion, which also raises the generation',
      sighting(),
      sighting({ deleting: true, generation: 2 }),
      'deletion',
    ],
    ['a deletion found by a list', null, sighting({ deleting: true }), 'deletion'],
    ['new labels or annotations', sighting(), sighting({ digest: 'e' }), 'metadata'],
    ['nothing but status', sighting(), sighting({ operating: true, reported: ['Parked'] }), 'none'],
    ['a finalizer', sighting({ finalizers: [] }), sighting(), 'none'],
    [
      'an older generation, from a stale list',
      sighting({ generation: 3 }),
      sighting({ generation: 2 }),
      'none',
    ],
  ] as const)('%s', (_, before, now, news) => {
    expect(judgeNews(before, now)).toBe(news);
  });

  it('never comes from status alone, whatever it holds', () => {
    const project = (status: unknown): Sighting =>
      sightingOf(
        { group: 'g', version: 'v1', plural: 'lamps', kind: 'Lamp' },
        {
          metadata: { name: 'hall', namespace: 'default', uid: 'u1', generation: 1, labels: { a: 'b' } },
          status,
        },
        { owner: () => OWNER },
      );
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        expect(judgeNews(project(one), project(other))).toBe('none');
      }),
    );
  });
});

describe('a change of the resource itself', () => {
  it.each([
    ['created', seen(sighting(), null), { urgent: true, delivery: 'start' }],
    ['changed', seen(sighting({ generation: 2 })), { urgent: true, delivery: 'start' }],
    ['deleted', seen(sighting({ deleting: true })), { urgent: true, delivery: 'start' }],
    ['labelled', seen(sighting({ digest: 'e' })), { urgent: false, delivery: 'start' }],
    ['listed again', seen(sighting(), sighting(), true), { urgent: false, delivery: 'start' }],
    ['gone', { is: 'gone', before: sighting() }, { urgent: true, delivery: 'signal' }],
    [
      'deleted, and no longer ours to clean up',
      seen(sighting({ deleting: true, finalizers: ['other'] })),
      { urgent: true, delivery: 'signal' },
    ],
  ] as const)('that is %s is a hint', (_, change, expected) => {
    expect(decideTrigger('primary', change, there)).toMatchObject({ is: 'hint', owner: OWNER, ...expected });
  });

  it('without news is dropped', () => {
    expect(decideTrigger('primary', seen(sighting({ operating: true })), there)).toEqual({
      is: 'drop',
      news: 'none',
    });
  });

  it('that cannot be handed over is reported, once for each new generation', () => {
    const invalid = sighting({ problem: 'too long', finalizers: [] });
    expect(decideTrigger('primary', seen(invalid, null), there)).toMatchObject({
      is: 'report',
      problem: 'too long',
    });
    expect(decideTrigger('primary', seen(invalid, invalid), there)).toMatchObject({ is: 'drop' });
  });

  it('that became invalid is still cleaned up', () => {
    const invalid = sighting({ problem: 'too long', deleting: true });
    expect(decideTrigger('primary', seen(invalid), there)).toMatchObject({ is: 'hint', urgent: true });
  });
});

describe('a change of a part', () => {
  const pod = (change: Partial<Sighting> = {}): Sighting =>
    sighting({ kind: 'Pod', name: 'hall-0', ...change });

  it.each([
    ['created', seen(pod(), null)],
    ['changed', seen(pod({ digest: 'not ready' }), pod())],
    ['gone', { is: 'gone', before: pod() }],
  ] as const)('that is %s wakes at most, and never starts an entity', (_, change) => {
    for (const owner of [there, absent, unsure])
      expect(decideTrigger('part', change, owner)).toMatchObject({
        is: 'hint',
        urgent: false,
        delivery: 'signal',
        slot: 'part',
      });
  });

  it('that a list finds for the first time is left to its resource, which the list wakes', () => {
    expect(decideTrigger('part', seen(pod(), null, true), there)).toMatchObject({ is: 'drop' });
    expect(decideTrigger('part', seen(pod(), pod(), true), there)).toMatchObject({ is: 'drop' });
    expect(decideTrigger('part', seen(pod({ digest: 'e' }), pod(), true), there)).toMatchObject({
      is: 'hint',
    });
  });

  it('that belongs to nobody is dropped', () => {
    expect(decideTrigger('part', seen(pod({ owner: null }), null), there)).toMatchObject({ is: 'drop' });
    expect(decideTrigger('part', { is: 'gone', before: pod({ owner: null }) }, there)).toMatchObject({
      is: 'drop',
    });
  });
});

describe('a wish', () => {
  const wish = sighting({ kind: 'Upgrade', name: 'to-9' });

  it('is forwarded to the entity of the resource that it is for', () => {
    expect(decideTrigger('wish', seen(wish, null), there)).toMatchObject({
      is: 'hint',
      delivery: 'start',
      urgent: true,
      slot: 'Upgrade/default/to-9',
    });
  });

  it('for a resource that does not exist is refused in words, and starts nothing', () => {
    expect(decideTrigger('wish', seen(wish, null), absent)).toMatchObject({
      is: 'report',
      problem:
        'There is no resource default/hall that it could be for: create that, or correct the reference.',
    });
  });

  it('that was seen before the resources were listed wakes an entity that runs, and starts none', () => {
    expect(decideTrigger('wish', seen(wish, null), unsure)).toMatchObject({ is: 'hint', delivery: 'signal' });
  });
});

describe('an object that is hardly one', () => {
  it('is refused in words', () => {
    const type = { group: 'g', version: 'v1', plural: 'lamps', kind: 'Lamp' };
    expect(() => sightingOf(type, {}, { owner: () => null })).toThrow(
      'A Lamp without a name or a uid was received.',
    );
  });

  it('never makes anything else go wrong', () => {
    const type = { group: 'g', version: 'v1', plural: 'lamps', kind: 'Lamp' };
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (metadata, status) => {
        const object = { metadata: { ...Object(metadata), name: 'hall', uid: 'u1' }, status };
        expect(sightingOf(type, object, { owner: () => null })).toMatchObject({ name: 'hall', uid: 'u1' });
      }),
    );
  });
});
