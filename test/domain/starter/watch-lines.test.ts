import { describe, expect, it } from 'vitest';
import { renderCompletion, SHELLS } from '../../../starter/cli/render/completion-script.ts';
import { renderEntity, renderFrame } from '../../../starter/cli/render/entity-text.ts';
import type { EntityView } from '../../../starter/cli/render/entity-text.ts';
import { ScreenFrame } from '../../../starter/cli/render/screen-frame.ts';
import { renderDuration } from '../../../starter/cli/render/times.ts';
import { isWatchOver, selectNewLines } from '../../../starter/cli/render/watch-lines.ts';
import type { EntityStatus, OperationProgress, StepProgress } from '../../../workflows/shared/messages.ts';

const RESULT: NonNullable<EntityStatus['last']> = {
  operation: 'create',
  outcome: 'done',
  message: 'all lit',
  failure: null,
  steps: { done: 2, of: 2 },
  phase: 'Running',
  durationMs: 65_000,
  stepSeconds: { Light: 3.5 },
  facts: { lamps: 3 },
};

const OPERATION = { name: 'create', workflowId: 'lamp/a/hall/create/1', startedAtMs: 0 };
const drift = { on: 'drift', message: 'as desired', untilMs: null } as const;

const step = (id: string, change: Partial<StepProgress> = {}): StepProgress => ({
  id,
  kind: 'Light',
  reason: 'it is dark',
  state: 'waiting',
  startedAtMs: null,
  endedAtMs: null,
  ...change,
});

const progressOf = (...steps: readonly StepProgress[]): OperationProgress => ({
  operation: 'create',
  phase: 'Creating',
  steps,
  waiting: null,
  stopping: null,
});

const view = (status: Partial<EntityStatus> = {}, rest: Partial<EntityView> = {}): EntityView => ({
  workflowId: 'lamp/a/hall',
  run: 'RUNNING',
  status: {
    resource: 'a/hall',
    uid: 'u1',
    generation: 2,
    phase: 'Creating',
    message: '',
    conditions: [],
    paused: null,
    waiting: null,
    operation: null,
    last: null,
    ...status,
  },
  progress: null,
  approvalHash: null,
  ...rest,
});

describe('an entity as text', () => {
  it('shows all that a person asks about', () => {
    const text = renderEntity(
      view(
        {
          message: 'lighting',
          operation: OPERATION,
          conditions: [
            { type: 'Ready', status: 'False', reason: 'Creating', message: 'wait', observedGeneration: 2 },
          ],
        },
        {
          progress: progressOf(
            step('1', { state: 'done', startedAtMs: 0, endedAtMs: 1_500, facts: { watts: 60 } }),
            step('2', { state: 'running', startedAtMs: 2_000 }),
            step('3'),
          ),
        },
      ),
      12_000,
    );
    expect(text).toBe(`Workflow    lamp/a/hall
Phase       Creating
Message     lighting
Generation  2 of u1

Operation create, for 12 s
  ✓  1 Light: it is dark (1.5 s) [watts=60]
  ▶  2 Light: it is dark (10 s)
  ·  3 Light: it is dark

CONDITION  STATUS  REASON    MESSAGE
Ready      False   Creating  wait
`);
  });

  it('shows the last result when nothing runs, with its failure', () => {
    const failed = { ...RESULT, outcome: 'failed', failure: { code: 'Fuse', message: 'it blew' } } as const;
    expect(renderEntity(view({ last: failed }), 0)).toContain(
      'Last operation: create failed after 1 min 5 s, 2 of 2 steps: all lit; Fuse: it blew\n  Light  3.5 s\n  lamps=3',
    );
  });

  it.each([
    [view({ paused: { reason: 'a move' } }), 'Paused: a move\n  keelson resume lamp/a/hall'],
    [
      view({ waiting: { on: 'approval', message: 'm', untilMs: null } }, { approvalHash: 'sha256:1' }),
      'Waits (approval): m\n  keelson approve lamp/a/hall --hash sha256:1',
    ],
    [
      view({ waiting: { on: 'back-off', message: 'm', untilMs: 90_000 } }),
      'Waits (back-off, for 1 min 20 s more): m\n  keelson retry lamp/a/hall',
    ],
    [view({ waiting: { on: 'guard', message: 'no room', untilMs: null } }), 'Waits (guard): no room'],
  ])('says why it waits and what a person can do (%#)', (seen, expected) => {
    expect(renderEntity(seen, 10_000)).toContain(expected);
    expect(renderFrame(seen, 10_000)).toContain(expected);
  });
});

describe('what is new since the last look', () => {
  it('is everything at first, and then only what changed', () => {
    const first = view(
      { operation: OPERATION },
      { progress: progressOf(step('1', { state: 'running', startedAtMs: 0 })) },
    );
    expect(selectNewLines(null, first, 1_000)).toEqual([
      'Creating',
      'operation create began (lamp/a/hall/create/1)',
      '▶  1 Light: it is dark (1 s)',
    ]);
    expect(selectNewLines(first, first, 2_000)).toEqual([]);
    const done = view(
      { operation: OPERATION },
      { progress: progressOf(step('1', { state: 'done', startedAtMs: 0, endedAtMs: 3_000 })) },
    );
    expect(selectNewLines(first, done, 4_000)).toEqual(['✓  1 Light: it is dark (3 s)']);
    const settled = view({ phase: 'Running', waiting: drift, last: RESULT });
    expect(selectNewLines(done, settled, 5_000)).toEqual([
      'Running',
      'create done after 1 min 5 s, 2 of 2 steps: all lit',
    ]);
    expect(selectNewLines(settled, { ...settled, run: 'COMPLETED' }, 5_000)).toEqual(['workflow completed']);
  });

  it('does not repeat a wait only because its end comes nearer', () => {
    const waits = (untilMs: number) => view({ waiting: { on: 'back-off', message: 'm', untilMs } });
    expect(selectNewLines(waits(10_000), waits(20_000), 0)).toEqual([]);
  });
});

describe('watching ends', () => {
  it.each([
    ['while an operation runs', true, view({ operation: OPERATION }), false],
    ['when it has ended', true, view({ last: RESULT, waiting: drift }), true],
    [
      'after one that was superseded, because the next follows',
      true,
      view({ last: { ...RESULT, outcome: 'superseded' } }),
      false,
    ],
    ['when there was nothing to do', false, view({ waiting: drift }), true],
    ['while an approval is waited for', false, view({ waiting: { ...drift, on: 'approval' } }), false],
    ['when the workflow has ended', false, view({}, { run: 'COMPLETED' }), true],
  ] as const)('%s', (_, had, now, over) => {
    expect(isWatchOver(had, now)).toBe(over);
  });
});

describe('a frame on a terminal', () => {
  it('is drawn over, cut to the width and the height', () => {
    const written: string[] = [];
    const frame = new ScreenFrame({ columns: 5, rows: 3, write: (text) => written.push(text) });
    frame.draw('123456\nb\nc');
    frame.draw('x');
    expect(written).toEqual(['\r\u001B[J1234…\nb\n', '\u001B[2A\r\u001B[Jx\n']);
  });

  it('takes a terminal that does not know its size for one of 80 by 24', () => {
    const written: string[] = [];
    new ScreenFrame({ columns: 0, rows: 0, write: (text) => written.push(text) }).draw('a\nb');
    expect(written).toEqual(['\r\u001B[Ja\nb\n']);
  });
});

describe('a duration', () => {
  it.each([
    [-5, '0 s'],
    [440, '0.4 s'],
    [12_345, '12 s'],
    [60_000, '1 min'],
    [185_000, '3 min 5 s'],
    [7_800_000, '2 h 10 min'],
    [349_200_000, '4 d 1 h'],
  ])('of %i ms reads %s', (ms, text) => {
    expect(renderDuration(ms)).toBe(text);
  });
});

describe('a completion script', () => {
  it.each(SHELLS)('for %s knows every verb, and asks for the resources', (shell) => {
    const script = renderCompletion(shell, [{ name: 'glow', summary: "a lamp's light" }]);
    expect(script).toContain('glow');
    expect(script).toContain('keelson completion resources');
  });

  it.each(['zsh', 'fish'] as const)('for %s quotes the summaries', (shell) => {
    const script = renderCompletion(shell, [{ name: 'glow', summary: "a lamp's light" }]);
    expect(script).toContain("a lamp'\\''s light");
  });
});
