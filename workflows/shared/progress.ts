import type { StepProgress } from './messages.ts';
import type { Command, Facts, Plan } from './plan.ts';

const MARKS = { done: '✓', running: '▶', failed: '✗', skipped: '–', waiting: '·' } as const;

/** Keeps what has become of each step of one plan. */
export class Progress {
  readonly #steps: Map<string, StepProgress>;

  constructor(plan: Plan<Command>) {
    this.#steps = new Map(
      plan.steps.map((step) => [
        step.id,
        {
          id: step.id,
          kind: step.kind,
          reason: step.reason,
          state: 'waiting',
          startedAtMs: null,
          endedAtMs: null,
        },
      ]),
    );
  }

  get steps(): readonly StepProgress[] {
    return [...this.#steps.values()];
  }

  start(id: string, nowMs: number): void {
    this.#change(id, { state: 'running', startedAtMs: nowMs });
  }

  end(id: string, state: 'done' | 'failed' | 'skipped', nowMs: number, facts: Facts | undefined): void {
    this.#change(id, { state, endedAtMs: nowMs, ...(facts === undefined ? {} : { facts }) });
  }

  #change(id: string, change: Partial<StepProgress>): void {
    const step = this.#steps.get(id);
    if (step === undefined) throw new Error(`the plan has no step ${id}`);
    this.#steps.set(id, { ...step, ...change });
  }
}

/** How many steps a person reads before a count says more. */
const MOST_LINES = 40;
const LAST_DONE = 5;
const NEXT_WAITING = 10;

/** The plan with ticks, as Markdown for the top of the run's page; of a long one the part that matters now. */
export function renderTicks(title: string, steps: readonly StepProgress[], note: string | null): string {
  const lines = steps.length <= MOST_LINES ? steps.map(tick) : excerpt(steps);
  // The Web UI keeps the ends of lines; a list would put a dot before each mark.
  return [`**${title}**`, ...(note === null ? [] : [`_${note}_`]), lines.join('\n')].join('\n\n');
}

const tick = (step: StepProgress): string =>
  `${MARKS[step.state]} ${step.id} ${step.kind}: ${step.reason}${seconds(step)}`;

function excerpt(steps: readonly StepProgress[]): readonly string[] {
  const done = steps.filter((step) => step.state === 'done');
  const waiting = steps.filter((step) => step.state === 'waiting');
  const now = steps.filter((step) => step.state !== 'done' && step.state !== 'waiting');
  const counted = (mark: string, count: number, what: string): readonly string[] =>
    count > 0 ? [`${mark} ${count} ${what}`] : [];
  return [
    ...counted(MARKS.done, done.length - LAST_DONE, 'steps before are done'),
    ...done.slice(-LAST_DONE).map(tick),
    ...now.slice(0, MOST_LINES).map(tick),
    ...counted(MARKS.running, now.length - MOST_LINES, 'more run beside them'),
    ...waiting.slice(0, NEXT_WAITING).map(tick),
    ...counted(MARKS.waiting, waiting.length - NEXT_WAITING, 'more wait'),
  ];
}

/** The seconds that each kind of step took, added up. */
export function secondsByKind(steps: readonly StepProgress[]): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const step of steps) {
    if (step.startedAtMs === null || step.endedAtMs === null) continue;
    sums[step.kind] = round((sums[step.kind] ?? 0) + (step.endedAtMs - step.startedAtMs) / 1000);
  }
  return sums;
}

const seconds = ({ startedAtMs, endedAtMs }: StepProgress): string =>
  startedAtMs === null || endedAtMs === null ? '' : ` (${round((endedAtMs - startedAtMs) / 1000)} s)`;

const round = (value: number): number => Math.round(value * 1000) / 1000;
