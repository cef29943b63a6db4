import type { Blocked, Command, Facts, Plan, Step, Unknown } from './plan.ts';

/** What a guard answers: allowed, blocked in words that a person can act on, or not to be judged from these facts. */
export type Verdict =
  | { readonly is: 'allowed' }
  | { readonly is: 'blocked'; readonly message: string; readonly facts?: Facts }
  | { readonly is: 'unknown'; readonly needs: string };

export const allowed: Verdict = { is: 'allowed' };
export const blocked = (message: string, facts?: Facts): Verdict =>
  facts === undefined ? { is: 'blocked', message } : { is: 'blocked', message, facts };
export const unknown = (needs: string): Verdict => ({ is: 'unknown', needs });

/** One row of a lifecycle's guards: pure, named, asked before the plan and again before each irreversible step. */
export interface Guard<Observed, C extends Command> {
  readonly name: string;
  /** The change of the code with which the row came: turns that were decided before it are replayed without. */
  readonly since?: string;
  /** The change with which the row went: it stays here for the turns that it has decided. */
  readonly until?: string;
  /** The step is null when the plan as a whole is judged. */
  judge(observed: Observed, plan: Plan<C>, step: Step<C> | null): Verdict;
}

/** The rows that hold at a moment which knows some changes. */
export const guardsKnowing = <G extends Guard<never, never>>(
  guards: readonly G[],
  knows: (change: string) => boolean,
): readonly G[] =>
  guards.filter(
    ({ since, until }) => (since === undefined || knows(since)) && (until === undefined || !knows(until)),
  );

/** Asks every guard about the whole plan and about each of its steps. */
export function judgePlan<Observed, C extends Command>(
  guards: readonly Guard<Observed, C>[],
  observed: Observed,
  plan: Plan<C>,
): { readonly blocked: readonly Blocked[]; readonly unknown: readonly Unknown[] } {
  const verdicts = [null, ...plan.steps].flatMap((step) => judgeStep(guards, observed, plan, step));
  return {
    blocked: verdicts.flatMap((one) => one.blocked),
    unknown: unique(verdicts.flatMap((one) => one.unknown)),
  };
}

/** Asks every guard about one step, or about the whole plan. */
export function judgeStep<Observed, C extends Command>(
  guards: readonly Guard<Observed, C>[],
  observed: Observed,
  plan: Plan<C>,
  step: Step<C> | null,
): { readonly blocked: readonly Blocked[]; readonly unknown: readonly Unknown[] }[] {
  return guards.map((guard) => {
    const verdict = guard.judge(observed, plan, step);
    return {
      blocked:
        verdict.is === 'blocked'
          ? [{ step: step?.id ?? null, guard: guard.name, message: verdict.message }]
          : [],
      unknown: verdict.is === 'unknown' ? [{ guard: guard.name, needs: verdict.needs }] : [],
    };
  });
}

const unique = (rows: readonly Unknown[]): readonly Unknown[] =>
  rows.filter((row, at) => rows.findIndex((other) => other.guard === row.guard) === at);
