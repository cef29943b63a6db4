import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { Agenda } from './engine/agenda.ts';
import { currentAttempt } from './engine/attempts.ts';
import { crossing } from './engine/crossing.ts';
import { Engine, type EngineOptions } from './engine/engine.ts';
import type { WorkflowCode } from './engine/execution.ts';
import type { SimulatedPort } from './engine/port.ts';
import { Random } from './engine/random.ts';

interface World {
  work(): Promise<string>;
}

const act = (port: SimulatedPort): World => port.act('work') as World;

function open(code: WorkflowCode, options: Partial<EngineOptions> = {}): Engine {
  const engine = new Engine({
    seed: 'engine',
    workflows: { code },
    activities: { work: async () => 'done' },
    ...options,
  });
  engine.start('code', 'a', null);
  return engine;
}

const ended = (engine: Engine): Promise<boolean> => engine.until(() => engine.find('a') === null, 60_000);

describe('what crosses from one workflow to another', () => {
  it.each([
    ['a Map', { state: new Map() }, 'it.state is a Map'],
    ['a Set', [new Set()], 'it[0] is a Set'],
    ['a Date', { at: new Date(0) }, 'it.at is a Date'],
    ['undefined in an object', { a: { b: undefined } }, 'it.a.b is undefined'],
    ['undefined in a list', [1, undefined], 'it[1] is undefined'],
    ['what is no number', { ratio: Number.NaN }, 'it.ratio is NaN'],
    ['a function', { f: () => 1 }, 'it.f is function'],
    ['an object of a class', { random: new Random('x') }, 'it.random is a Random'],
  ])('may not hold %s', (_what, value, message) => {
    expect(() => crossing(value, 'it')).toThrow(message);
  });

  it('is a copy, so that nothing is shared', () => {
    const state = { list: [1, { a: null }] };
    expect(crossing(state, 'it')).toEqual(state);
    expect(crossing(state, 'it')).not.toBe(state);
  });
});

describe('the agenda', () => {
  it('lets things happen in the order of their time, and of their entry when that is the same', async () => {
    const agenda = new Agenda();
    const random = new Random('agenda');
    const happened: string[] = [];
    const planned = Array.from({ length: 200 }, (_, at) => ({ at, ms: random.between(0, 20) }));
    for (const { at, ms } of planned) agenda.in(ms, () => void happened.push(`${ms} ${at}`));
    while (agenda.nextMs !== null) await agenda.step();
    const sorted = planned.toSorted((a, b) => a.ms - b.ms || a.at - b.at);
    expect(happened).toEqual(sorted.map(({ at, ms }) => `${ms} ${at}`));
  });
});

describe('the simulated Temporal', () => {
  it('repeats an activity whose answer was lost', async () => {
    let runs = 0;
    const engine = open((port) => act(port).work(), {
      faults: { lostAnswer: 0.7, frozen: 0, slow: 0 },
      activities: {
        work: async () => {
          runs += 1;
          return String(currentAttempt().number);
        },
      },
    });
    expect(await ended(engine)).toBe(true);
    expect(engine.ended[0]?.closing).toEqual({ type: 'complete', result: String(runs) });
  });

  it('retries what may pass and gives up on what may not', async () => {
    let runs = 0;
    const engine = open((port) => act(port).work(), {
      activities: {
        work: async () => {
          runs += 1;
          if (runs < 3) throw new Error('for a moment');
          throw ApplicationFailure.nonRetryable('for good', 'KubernetesForbidden');
        },
      },
    });
    await ended(engine);
    expect(runs).toBe(3);
    expect(engine.ended[0]?.closing).toMatchObject({ type: 'fail' });
  });

  it('notices code that does something else when it is replayed', async () => {
    let lives = 0;
    const engine = open(async (port) => {
      lives += 1;
      await port.until(() => false, { summary: 'a while', timeoutMs: 1_000 * lives });
      return lives;
    });
    await engine.until(() => false, 500);
    await expect(engine.crash(10)).rejects.toThrow('a does not replay');
  });

  it('does not close a run that has not seen everything', async () => {
    const engine = open(async (port) => {
      let told = 0;
      port.serve({
        stop: () => void (told += 1),
        hold: () => {},
        release: () => {},
        progress: () => ({ operation: '', phase: '', steps: [], waiting: null, stopping: null }),
      });
      await act(port).work();
      return told;
    });
    let sent = 0;
    for (let at = 0; at < 100; at += 1) {
      engine.agenda.in(at, () => {
        if (engine.find('a') === null) return;
        sent += 1;
        engine.signal('a', 'stop', { why: 'cancelled', reason: '' });
      });
    }
    await ended(engine);
    expect(engine.ended[0]?.closing).toEqual({ type: 'complete', result: sent });
  });

  it('parks a run that throws what has no name, and goes on when other code is deployed', async () => {
    const engine = open(async (port) => {
      await act(port).work();
      throw new TypeError('broken');
    });
    await engine.until(() => engine.find('a')?.defect !== null, 60_000);
    expect(engine.find('a')?.defect?.message).toBe('broken');
    await engine.deploy({ code: (port) => act(port).work() });
    await ended(engine);
    expect(engine.ended[0]?.closing).toEqual({ type: 'complete', result: 'done' });
  });
});
