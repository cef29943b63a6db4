import { describe, expect, it } from 'vitest';
import { freshlyCarried, remember, rememberFailure, retried } from '../../../workflows/shared/memory.ts';
import { carried, forbidden, remembered, served, unavailable } from './sample-turn.ts';

const full = {
  ...carried,
  paused: { reason: 'holidays' },
  approved: { hash: 'sha256:1', by: 'ada', steps: [] },
  carriedOut: 2,
  declined: { generation: 3, operation: 'dim', reason: 'x' },
  failed: remembered({}),
  lastDone: 'sha256:1',
  turns: 7,
};

describe('what an entity remembers', () => {
  it('stays for the same resource', () => {
    expect(remember(full, served)).toEqual(full);
  });

  it('is forgotten for another resource of the same name, but for the pause and the count of turns', () => {
    expect(remember(full, { ...served, uid: 'uid-2', phase: 'Dark', carriedOut: 1 })).toEqual({
      ...freshlyCarried,
      uid: 'uid-2',
      phase: 'Dark',
      carriedOut: 1,
      paused: { reason: 'holidays' },
      turns: 7,
    });
  });

  it.each([
    [null, null, null],
    [2, null, 2],
    [null, 3, 3],
    [2, 3, 3],
    [3, 2, 3],
  ])(
    'keeps the newest generation that was carried out: %s remembered, %s on the resource, %s',
    (own, told, newest) => {
      expect(remember({ ...carried, carriedOut: own }, { ...served, carriedOut: told }).carriedOut).toBe(
        newest,
      );
    },
  );

  it('takes the phase from the resource when it knows none itself', () => {
    expect(remember({ ...carried, phase: null }, { ...served, phase: 'Dimming' }).phase).toBe('Dimming');
    expect(remember(carried, { ...served, phase: 'Dimming' }).phase).toBe('Lit');
  });

  it('is JSON, and comes back as it went', () => {
    expect(JSON.parse(JSON.stringify(full))).toEqual(full);
  });
});

describe('a failure that is remembered', () => {
  it('counts those in a row for one generation, and starts anew with the next', () => {
    const first = rememberFailure(carried, served, unavailable, 1_000);
    const second = rememberFailure({ ...carried, failed: first }, served, unavailable, 5_000);
    const next = rememberFailure(
      { ...carried, failed: second },
      { ...served, generation: 4 },
      unavailable,
      9_000,
    );
    expect([first.inARow, second.inARow, next.inARow]).toEqual([1, 2, 1]);
    expect([first.untilMs, second.untilMs, next.untilMs]).toEqual([3_000, 9_000, 11_000]);
  });

  it('has no end of its own when a person must act', () => {
    expect(rememberFailure(carried, served, forbidden, 1_000)).toMatchObject({
      after: { next: 'await-change' },
      untilMs: null,
    });
  });

  it('stands in nobody’s way once a person asked to try again, but is kept until its phase is left', () => {
    const failed = remembered({ entered: true });
    const declined = { generation: 3, operation: 'dim', reason: 'x' };
    expect(retried({ ...carried, failed, declined })).toEqual({
      declined: null,
      failed: { ...failed, generation: null, untilMs: null },
    });
    expect(retried(carried)).toEqual({ declined: null, failed: null });
  });
});
