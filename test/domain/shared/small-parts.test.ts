import { describe, expect, it } from 'vitest';
import {
  allowed,
  blocked,
  judgePlan,
  judgeStep,
  unknown,
  type Guard,
} from '../../../workflows/shared/guards.ts';
import { PartLocks } from '../../../workflows/shared/part-locks.ts';
import { Progress, renderTicks, secondsByKind } from '../../../workflows/shared/progress.ts';
import { Reporter } from '../../../workflows/shared/reporter.ts';
import { transition, type TransitionTable } from '../../../workflows/shared/transitions.ts';
import { entityId, operationId } from '../../../workflows/shared/messages.ts';
import { PHASE_TABLE } from '../../simulation/lamp-row/domain/phases.ts';
import { samplePlan, sampleStep, type SampleCommand } from './sample-turn.ts';

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a transition table', () => {
  const { phases, events, specification, ours } = PHASE_TABLE;
  const rows = [...specification, ...ours];
  const pairs = phases.flatMap((phase) => events.map((event) => [phase, event] as const));

  it.each(pairs)('moves from %s on %s exactly when it has a row for it', (phase, event) => {
    const row = rows.find(
      (one) => one.event === event && (one.from === phase || (one.from === '*' && one.to !== phase)),
    );
    const outcome = transition(PHASE_TABLE, phase, event);
    expect(outcome).toEqual(
      row === undefined
        ? { moved: false, refusal: `${event} does not lead anywhere from ${phase}` }
        : { moved: true, to: row.to, row },
    );
  });

  it('prefers the row of the phase to the row of every phase', () => {
    const table: TransitionTable<'A' | 'B' | 'C', 'go'> = {
      phases: ['A', 'B', 'C'],
      events: ['go'],
      specification: [{ from: '*', event: 'go', to: 'B' }],
      ours: [{ from: 'A', event: 'go', to: 'C', why: 'a test' }],
    };
    expect(transition(table, 'A', 'go')).toMatchObject({ to: 'C' });
    expect(transition(table, 'C', 'go')).toMatchObject({ to: 'B' });
    expect(transition(table, 'B', 'go')).toMatchObject({ moved: false });
  });
});

describe('guards', () => {
  const guards: readonly Guard<{ readonly reader: boolean }, SampleCommand>[] = [
    { name: 'Whole', judge: (_seen, _plan, step) => (step === null ? blocked('no plan today') : allowed) },
    {
      name: 'Reader',
      judge: (seen, _plan, step) => (seen.reader && step?.kind === 'Discard' ? blocked('read') : allowed),
    },
    {
      name: 'Memory',
      judge: (_seen, _plan, step) => (step === null ? allowed : unknown('memory of each node')),
    },
  ];
  const plan = samplePlan(sampleStep('1', { kind: 'Discard' }), sampleStep('2', { kind: 'ScrewIn' }));

  it('are asked about the whole plan and about each step, and their refusals name the step', () => {
    expect(judgePlan(guards, { reader: true }, plan).blocked).toEqual([
      { step: null, guard: 'Whole', message: 'no plan today' },
      { step: '1', guard: 'Reader', message: 'read' },
    ]);
  });

  it('that lack their facts are listed once, and block nothing', () => {
    const { blocked: refusals, unknown: unasked } = judgePlan(guards, { reader: false }, plan);
    expect(unasked).toEqual([{ guard: 'Memory', needs: 'memory of each node' }]);
    expect(refusals.map((one) => one.guard)).toEqual(['Whole']);
  });

  it('are asked again about one step alone', () => {
    const verdicts = judgeStep(guards, { reader: true }, plan, plan.steps[0] ?? null);
    expect(verdicts.flatMap((one) => one.blocked)).toEqual([{ step: '1', guard: 'Reader', message: 'read' }]);
  });
});

describe('the progress of a plan', () => {
  const plan = samplePlan(
    sampleStep('1', { kind: 'A' }),
    sampleStep('2', { kind: 'A' }),
    sampleStep('3', { kind: 'B' }),
  );

  it('ticks what is done, marks what runs, failed or was left out, and gives the seconds', () => {
    const progress = new Progress(plan);
    progress.start('1', 1_000);
    progress.end('1', 'done', 2_500, undefined);
    progress.start('2', 2_500);
    progress.end('2', 'failed', 3_000, { tries: 2 });
    progress.start('3', 3_000);
    expect(renderTicks('dim (Dimming)', progress.steps, 'paused: x')).toBe(
      [
        '**dim (Dimming)**',
        '',
        '_paused: x_',
        '',
        '✓ 1 A: because (1.5 s)',
        '✗ 2 A: because (0.5 s)',
        '▶ 3 B: because',
      ].join('\n'),
    );
    expect(secondsByKind(progress.steps)).toEqual({ A: 2 });
    expect(progress.steps[1]?.facts).toEqual({ tries: 2 });
  });

  it('shows of a long plan what matters now, and counts the rest', () => {
    const long = samplePlan(
      ...Array.from({ length: 200 }, (_, at) => sampleStep(String(at + 1), { kind: 'A' })),
    );
    const progress = new Progress(long);
    for (let at = 1; at <= 120; at += 1) progress.end(String(at), 'done', 0, undefined);
    progress.start('121', 0);
    const lines = renderTicks('scale-up', progress.steps, null)
      .split('\n')
      .filter((line) => line !== '');
    expect(lines).toHaveLength(1 + 1 + 5 + 1 + 10 + 1);
    expect(lines[1]).toContain('✓ 115 steps before are done');
    expect(lines[7]).toContain('▶ 121 A: because');
    expect(lines.at(-1)).toBe('· 69 more wait');
  });

  it('knows no step that the plan does not have', () => {
    expect(() => new Progress(plan).start('9', 0)).toThrow('the plan has no step 9');
  });
});

describe('a reporter', () => {
  function open(): {
    readonly reporter: Reporter<number>;
    readonly written: number[];
    let(go: boolean): void;
  } {
    const written: number[] = [];
    const waiting: ((error?: Error) => void)[] = [];
    const reporter = new Reporter<number>(
      (view) =>
        new Promise((resolve, reject) => {
          written.push(view);
          waiting.push((error) => (error === undefined ? resolve() : reject(error)));
        }),
    );
    return { reporter, written, let: (go) => waiting.shift()?.(go ? undefined : new Error('refused')) };
  }

  it('writes one at a time, and of those that wait only the newest', async () => {
    const { reporter, written, let: letGo } = open();
    for (const view of [1, 2, 3]) {
      reporter.put(view);
      reporter.begin();
    }
    await tick();
    expect(written).toEqual([1]);
    letGo(true);
    await tick();
    expect(written).toEqual([1, 3]);
    letGo(true);
    await reporter.flush();
  });

  it('writes nothing that it wrote just before', async () => {
    const { reporter, written, let: letGo } = open();
    reporter.put(1);
    reporter.begin();
    letGo(true);
    await reporter.flush();
    reporter.put(1);
    await reporter.flush();
    expect(written).toEqual([1]);
  });

  it('tells of a failed write once, and writes what came after it all the same', async () => {
    const { reporter, written, let: letGo } = open();
    for (const view of [1, 2]) {
      reporter.put(view);
      reporter.begin();
    }
    letGo(false);
    await tick();
    expect(written).toEqual([1, 2]);
    letGo(true);
    await expect(reporter.flush()).rejects.toThrow('refused');
    await reporter.flush();
    reporter.check();
  });

  it('leaves what it has not begun to the next writer, but not before its own write is over', async () => {
    const { reporter, written, let: letGo } = open();
    reporter.put(1);
    reporter.begin();
    reporter.put(2);
    let left = false;
    const leaving = reporter.leave().then(() => (left = true));
    await tick();
    expect(left).toBe(false);
    letGo(true);
    await leaving;
    await reporter.flush();
    expect(written).toEqual([1]);
  });
});

describe('the locks on parts', () => {
  it('let one taker after the other in, and none who needs two parts before both are free', async () => {
    const locks = new PartLocks();
    const waiting: { readonly ready: () => boolean; readonly go: () => void }[] = [];
    const until = (ready: () => boolean): Promise<void> =>
      new Promise((go) => void waiting.push({ ready, go }));
    const wake = async (): Promise<void> => {
      // As in a workflow, all whose condition holds are woken together.
      const ripe = waiting.filter((one) => one.ready());
      ripe.forEach((one) => waiting.splice(waiting.indexOf(one), 1));
      ripe.forEach((one) => one.go());
      await tick();
    };
    const log: string[] = [];
    const take = (name: string, ...parts: string[]): Promise<void> =>
      locks.take(parts, until).then((waited) => void log.push(`${name} ${waited ? 'waited' : 'at once'}`));
    await take('a', 'x');
    void take('b', 'x');
    void take('c', 'x', 'y');
    await take('d', 'y');
    locks.release(['x']);
    await wake();
    expect(log).toEqual(['a at once', 'd at once', 'b waited']);
    locks.release(['y']);
    await wake();
    expect(log).toHaveLength(3);
    locks.release(['x']);
    await wake();
    expect(log.at(-1)).toBe('c waited');
  });
});

describe('the ids', () => {
  it('name the resource, and of an operation what it serves', () => {
    const entity = entityId('lamp-row', { namespace: 'default', name: 'a' });
    expect(entity).toBe('lamp-row/default/a');
    expect(operationId(entity, 'dim', { uid: '0123456789', generation: 4, turn: 9 })).toBe(
      'lamp-row/default/a/dim/01234567-4.9',
    );
  });
});
