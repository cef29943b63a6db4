import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { irreversibleSteps } from '../../../workflows/shared/approvals.ts';
import type { Carried } from '../../../workflows/shared/memory.ts';
import { decideTurn, type Decision } from '../../../workflows/shared/turn.ts';
import {
  carried,
  forbidden,
  remembered,
  sampleEnvelope,
  samplePlan,
  sampleStep,
  served,
} from './sample-turn.ts';

const NOW_MS = 10_000;
const discard = sampleStep('1', { kind: 'Discard', socket: 2 }, true);
const work = sampleEnvelope(samplePlan(discard));
const nothing = sampleEnvelope(samplePlan());
const refused = sampleEnvelope(samplePlan(discard), [
  { step: '1', guard: 'Reader', message: 'somebody reads' },
]);
const failing = remembered({ failure: forbidden, after: { next: 'await-change' }, untilMs: null });
const found = { ...failing, found: true };
const backingOff = remembered({});
const declined = { generation: 3, operation: 'dim', reason: 'too dark' };
const paused = { reason: 'holidays' };
const approved = { hash: work.hash, by: 'ada', steps: irreversibleSteps(work) };

type Turn = Partial<Parameters<typeof decideTurn>[0]>;
const decide = (turn: Turn, change: Partial<Carried> = {}): Decision =>
  decideTurn({ served, plan: work, lost: null, nowMs: NOW_MS, carried: { ...carried, ...change }, ...turn });
const outcome = (decision: Decision): string =>
  decision.do === 'wait' ? `waits on ${decision.on}` : decision.do;

describe('a turn', () => {
  it.each<[string, string, Turn, Partial<Carried>]>([
    ['nothing stands in the way', 'operate', {}, {}],
    ['there is nothing to do', 'rest', { plan: nothing }, {}],
    ['there is nothing to do, and it is paused', 'rest', { plan: nothing }, { paused }],
    ['it is paused', 'waits on pause', {}, { paused }],
    ['a guard refuses', 'waits on guard', { plan: refused }, {}],
    ['it is paused and a guard refuses', 'waits on pause', { plan: refused }, { paused }],
    ['something is lost', 'fail', { lost: forbidden }, {}],
    ['something is lost and it is paused', 'fail', { lost: forbidden }, { paused }],
    [
      'something is lost and it is deleted',
      'operate',
      { lost: forbidden, served: { ...served, deleting: true } },
      {},
    ],
    ['a person must act', 'waits on change', {}, { failed: failing }],
    [
      'a person must act, and there is nothing to do',
      'waits on change',
      { plan: nothing },
      { failed: failing },
    ],
    ['a back-off lasts', 'waits on back-off', {}, { failed: backingOff }],
    ['a back-off is over', 'operate', { nowMs: 12_000 }, { failed: backingOff }],
    ['a back-off is of an earlier generation', 'operate', {}, { failed: { ...backingOff, generation: 2 } }],
    ['a failure is of an earlier generation', 'operate', {}, { failed: { ...failing, generation: 2 } }],
    ['a person asked to try again', 'operate', {}, { failed: { ...failing, generation: null } }],
    [
      'the world moved a moment ago',
      'operate',
      {},
      { failed: remembered({ after: { next: 'plan-again' }, untilMs: null }) },
    ],
    ['a look found what a person must act on', 'waits on change', { lost: forbidden }, { failed: found }],
    ['the next look finds it gone', 'operate', {}, { failed: found }],
    ['the next look finds it gone, and nothing to do', 'rest', { plan: nothing }, { failed: found }],
    [
      'the next look finds something else',
      'fail',
      { lost: { ...forbidden, message: 'else' } },
      { failed: found },
    ],
    ['the wish was cancelled', 'waits on cancelled', {}, { declined }],
    ['another operation was cancelled', 'operate', {}, { declined: { ...declined, operation: 'light-up' } }],
    [
      'the wish of an earlier generation was cancelled',
      'operate',
      {},
      { declined: { ...declined, generation: 2 } },
    ],
    ['the wish was cancelled and a guard refuses', 'waits on cancelled', { plan: refused }, { declined }],
    ['approvals are wanted', 'waits on approval', { served: { ...served, approvals: true } }, {}],
    [
      'approvals are wanted and a guard refuses',
      'waits on guard',
      { served: { ...served, approvals: true }, plan: refused },
      {},
    ],
    ['the plan is approved', 'operate', { served: { ...served, approvals: true } }, { approved }],
  ])('when %s: %s', (_when, expected, turn, change) => {
    expect(outcome(decide(turn, change))).toBe(expected);
  });

  it('says what it waits for in words, and until when', () => {
    expect(decide({}, { failed: backingOff })).toEqual({
      do: 'wait',
      on: 'back-off',
      message: 'KubernetesUnavailable: away',
      untilMs: 12_000,
    });
    expect(decide({ plan: refused })).toMatchObject({
      message: 'blocked by the guard Reader: somebody reads',
      untilMs: null,
    });
    expect(decide({ served: { ...served, approvals: true } })).toMatchObject({
      message: `dim has steps that cannot be undone: approve ${work.hash}`,
    });
  });

  it('operates only when nothing stands in the way: each obstacle alone is enough to keep it', () => {
    const obstacles: readonly { readonly turn?: Turn; readonly change?: Partial<Carried> }[] = [
      { turn: { plan: nothing } },
      { turn: { plan: refused } },
      { turn: { lost: forbidden } },
      { turn: { served: { ...served, approvals: true } } },
      { change: { paused } },
      { change: { declined } },
      { change: { failed: failing } },
      { change: { failed: backingOff } },
    ];
    fc.assert(
      fc.property(fc.subarray([...obstacles], { minLength: 1 }), (some) => {
        const turn = Object.assign({}, ...some.map((one) => one.turn ?? {})) as Turn;
        const change = Object.assign({}, ...some.map((one) => one.change ?? {})) as Partial<Carried>;
        expect(decide(turn, change).do).not.toBe('operate');
      }),
    );
  });
});
