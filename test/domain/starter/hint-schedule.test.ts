import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HintSchedule } from '../../../starter/hint-schedule.ts';
import type { Offer } from '../../../starter/hint-schedule.ts';

const GAP = 1_000;
const CALM = 30_000;
const urgent = (payload: string, slot = 'primary'): Offer<string> => ({ slot, urgent: true, payload });
const calm = (payload: string, slot = 'part'): Offer<string> => ({ slot, urgent: false, payload });

/** Sends all that is due at a moment and says what was sent. */
function send(schedule: HintSchedule<string>, nowMs: number): readonly string[] {
  return schedule.take(nowMs, 100).map(({ key, offer }) => {
    schedule.sent(key, nowMs);
    return offer.payload;
  });
}

describe('the hints of one workflow', () => {
  it('go at once when they are the first', () => {
    const schedule = new HintSchedule<string>();
    schedule.offer('a', calm('pod'));
    expect(send(schedule, 5)).toEqual(['pod']);
  });

  it('are at most one a second, and the newest wins', () => {
    const schedule = new HintSchedule<string>();
    schedule.offer('a', urgent('g1'));
    expect(send(schedule, 0)).toEqual(['g1']);
    schedule.offer('a', urgent('g2'));
    schedule.offer('a', urgent('g3'));
    expect(send(schedule, GAP - 1)).toEqual([]);
    expect(schedule.nextDueMs()).toBe(GAP);
    expect(send(schedule, GAP)).toEqual(['g3']);
    expect(schedule.nextDueMs()).toBeNull();
  });

  it('do not wait for those of another workflow', () => {
    const schedule = new HintSchedule<string>();
    schedule.offer('a', urgent('a1'));
    send(schedule, 0);
    schedule.offer('b', urgent('b1'));
    expect(send(schedule, 1)).toEqual(['b1']);
  });

  it('are held to one in 30 s while an operation runs, unless they bring a generation or a deletion', () => {
    const schedule = new HintSchedule<string>();
    schedule.offer('a', urgent('g1'));
    send(schedule, 0);
    schedule.setOperating('a', true);
    schedule.offer('a', calm('pod'));
    expect(send(schedule, CALM - 1)).toEqual([]);
    schedule.offer('a', urgent('g2'));
    expect(send(schedule, CALM - 1)).toEqual(['g2']);
    schedule.offer('a', calm('pod'));
    expect(send(schedule, CALM)).toEqual([]);
    expect(send(schedule, 2 * CALM - 1)).toEqual(['pod']);
  });

  it('that were held become due when the operation ends', () => {
    const schedule = new HintSchedule<string>();
    schedule.offer('a', urgent('g1'));
    send(schedule, 0);
    schedule.setOperating('a', true);
    schedule.offer('a', calm('pod'));
    schedule.setOperating('a', false);
    expect(send(schedule, GAP)).toEqual(['pod']);
  });

  it('settle with one send all that only wakes, but send every urgent one', () => {
    const schedule = new HintSchedule<string>();
    schedule.offer('a', calm('pod'));
    schedule.offer('a', urgent('upgrade', 'wish'));
    schedule.offer('a', urgent('cluster'));
    expect(send(schedule, 0)).toEqual(['upgrade']);
    expect(send(schedule, GAP)).toEqual(['cluster']);
    expect(send(schedule, 2 * GAP)).toEqual([]);
  });

  it('stay urgent when a later, calm one replaces them', () => {
    const schedule = new HintSchedule<string>();
    schedule.offer('a', urgent('g1'));
    send(schedule, 0);
    schedule.setOperating('a', true);
    schedule.offer('a', urgent('g2'));
    schedule.offer('a', calm('g2 with a label', 'primary'));
    expect(send(schedule, GAP)).toEqual(['g2 with a label']);
  });

  it('are due again after a failure, and something newer replaces what failed', () => {
    const schedule = new HintSchedule<string>();
    schedule.offer('a', urgent('g1'));
    expect(schedule.take(0, 1)).toHaveLength(1);
    expect(schedule.take(0, 1)).toHaveLength(0);
    schedule.offer('a', urgent('g2'));
    schedule.failed('a', (failures) => failures * 500);
    expect(send(schedule, 499)).toEqual([]);
    expect(send(schedule, 500)).toEqual(['g2']);
    expect(schedule.pending).toBe(0);
  });

  it('are dropped when another replica leads', () => {
    const schedule = new HintSchedule<string>();
    schedule.offer('a', urgent('g1'));
    schedule.clear();
    expect(send(schedule, 0)).toEqual([]);
  });

  it('cost no memory once nothing holds them back', () => {
    const schedule = new HintSchedule<string>();
    schedule.offer('a', urgent('g1'));
    send(schedule, 0);
    schedule.forgetIdle(CALM);
    schedule.offer('a', calm('pod'));
    expect(schedule.nextDueMs()).toBe(GAP);
    send(schedule, GAP);
    schedule.forgetIdle(GAP + CALM + 1);
    schedule.offer('a', calm('pod'));
    expect(send(schedule, GAP + CALM + 1)).toEqual(['pod']);
  });
});

type Action =
  | { is: 'offer'; key: string; slot: string; urgent: boolean }
  | { is: 'operating'; key: string; value: boolean }
  | { is: 'pass'; ms: number }
  | { is: 'send'; fails: boolean };

const key = fc.constantFrom('a', 'b');
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({
    is: fc.constant('offer' as const),
    key,
    slot: fc.constantFrom('primary', 'wish', 'part'),
    urgent: fc.boolean(),
  }),
  fc.record({ is: fc.constant('operating' as const), key, value: fc.boolean() }),
  fc.record({ is: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 40_000 }) }),
  fc.record({ is: fc.constant('send' as const), fails: fc.boolean() }),
);

/** Plays a story on a virtual clock and notes what was offered and what arrived, and when. */
function play(actions: readonly Action[]) {
  const schedule = new HintSchedule<number>();
  const offered: { key: string; slot: string; urgent: boolean; serial: number; atMs: number }[] = [];
  const arrived: { key: string; offer: Offer<number>; atMs: number; operating: boolean }[] = [];
  const operating = new Set<string>();
  let nowMs = 0;
  let serial = 0;
  const sendAll = (fails: boolean): void => {
    for (const { key, offer } of schedule.take(nowMs, 100)) {
      if (fails) schedule.failed(key, () => nowMs + 100);
      else {
        arrived.push({ key, offer, atMs: nowMs, operating: operating.has(key) });
        schedule.sent(key, nowMs);
      }
    }
  };
  for (const one of actions) {
    if (one.is === 'pass') nowMs += one.ms;
    else if (one.is === 'send') sendAll(one.fails);
    else if (one.is === 'operating') {
      if (one.value) operating.add(one.key);
      else operating.delete(one.key);
      schedule.setOperating(one.key, one.value);
    } else {
      serial += 1;
      offered.push({ ...one, serial, atMs: nowMs });
      schedule.offer(one.key, { slot: one.slot, urgent: one.urgent, payload: serial });
    }
  }
  for (let due = schedule.nextDueMs(); due !== null; due = schedule.nextDueMs()) {
    nowMs = Math.max(nowMs, due);
    sendAll(false);
  }
  return { offered, arrived, schedule };
}

describe('whatever happens, in any order', () => {
  it('no workflow gets two hints within a second', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const { arrived } = play(actions);
        for (const name of ['a', 'b']) {
          const times = arrived.filter((one) => one.key === name).map((one) => one.atMs);
          times.forEach((atMs, at) => expect(at === 0 || atMs - (times[at - 1] ?? 0) >= GAP).toBe(true));
        }
      }),
    );
  });

  it('nothing is lost: after every offer a hint arrives, and after every urgent one of its own slot at least as new', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const { offered, arrived, schedule } = play(actions);
        expect(schedule.pending).toBe(0);
        for (const one of offered) {
          const later = arrived.filter((hint) => hint.key === one.key && hint.atMs >= one.atMs);
          expect(later.length).toBeGreaterThan(0);
          if (!one.urgent) continue;
          expect(later.some((hint) => hint.offer.slot === one.slot && hint.offer.payload >= one.serial)).toBe(
            true,
          );
        }
      }),
    );
  });

  it('a running operation hears at most one calm hint in 30 s', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const { arrived } = play(actions);
        for (const [at, hint] of arrived.entries()) {
          if (hint.offer.urgent || !hint.operating) continue;
          const earlier = arrived.slice(0, at).findLast((one) => one.key === hint.key);
          expect(earlier === undefined || hint.atMs - earlier.atMs >= CALM).toBe(true);
        }
      }),
    );
  });
});
