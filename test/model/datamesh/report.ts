import type { JobResult } from './run-job.ts';
import type { Bounds } from './space.ts';

/** One kernel and kind of scenario. */
export interface Row {
  readonly kernel: string;
  readonly kind: string;
  readonly scenarios: number;
  readonly states: number;
  readonly transitions: number;
  readonly cpuSeconds: number;
}

/** All that a run found. */
export interface Summary {
  readonly seconds: number;
  readonly workers: number;
  readonly bounds: Bounds;
  readonly rows: readonly Row[];
  readonly states: number;
  readonly transitions: number;
  readonly cpuSeconds: number;
  readonly unsound: readonly {
    readonly name: string;
    readonly broken: readonly string[];
    readonly story: string | null;
  }[];
  /** By guard: cases in which it alone refuses what breaks an invariant, and in which it refuses what is safe. */
  readonly guards: Readonly<Record<string, { justified: number; needless: number; example: string }>>;
  /** Scenarios in which FTT is lower while a node has deleted a peer and not yet forgotten it. */
  readonly unforgotten: number;
  /** Scenarios in which a zone may be lost before and after a transition and not on the way. */
  readonly zones: readonly string[];
  /** Scenarios at rest in which FTT is lower once two-phase commits have settled (numeric q and dynamic voters). */
  readonly settled: readonly string[];
}

/** Adds up what the jobs found. */
export function summarise(
  results: readonly JobResult[],
  run: { readonly seconds: number; readonly workers: number; readonly bounds: Bounds },
): Summary {
  const rows = new Map<string, Row>();
  const guards: Record<string, { justified: number; needless: number; example: string }> = {};
  const guardOf = (name: string): { justified: number; needless: number; example: string } =>
    (guards[name] ??= { justified: 0, needless: 0, example: '' });
  for (const one of results) {
    const key = `${one.kernel} ${one.kind}`;
    const old = rows.get(key) ?? {
      kernel: one.kernel,
      kind: one.kind,
      scenarios: 0,
      states: 0,
      transitions: 0,
      cpuSeconds: 0,
    };
    rows.set(key, {
      ...old,
      scenarios: old.scenarios + 1,
      states: old.states + one.states,
      transitions: old.transitions + one.transitions,
      cpuSeconds: old.cpuSeconds + one.cpuMs / 1000,
    });
    for (const name of one.justified) guardOf(name).justified += 1;
    for (const text of one.needless) {
      const row = guardOf(text.slice(0, text.indexOf(' ')));
      row.needless += 1;
      row.example ||= `${one.name}, ${text}`;
    }
  }
  const all = [...rows.values()].sort((a, b) => (`${a.kernel} ${a.kind}` < `${b.kernel} ${b.kind}` ? -1 : 1));
  const unsound = results.filter((one) => one.unsound.length > 0);
  const sum = (of: (row: Row) => number): number => all.reduce((total, row) => total + of(row), 0);
  return {
    ...run,
    rows: all,
    states: sum((row) => row.states),
    transitions: sum((row) => row.transitions),
    cpuSeconds: sum((row) => row.cpuSeconds),
    unsound: unsound.map((one) => ({ name: one.name, broken: one.unsound, story: one.story })),
    guards,
    unforgotten: results.filter((one) => one.kind === 'partitions' && one.fttUnforgotten < one.ftt).length,
    zones: results.flatMap((one) => (one.zones === null ? [] : [`${one.name}, ${one.zones}`])),
    settled: [
      ...new Set(
        results
          .filter((one) => one.kind === 'partitions' && one.fttSettled < one.ftt && one.ftt === one.fttAtRest)
          .map((one) => one.name.slice(0, one.name.indexOf(':'))),
      ),
    ].sort(),
  };
}

const thousands = (value: number): string => Math.round(value).toLocaleString('en-US');

/** The report as Markdown. */
export function renderReport(summary: Summary): string {
  const { bounds } = summary;
  const table = (heads: readonly string[], rows: readonly (readonly string[])[]): readonly string[] => [
    `| ${heads.join(' | ')} |`,
    `|${heads.map(() => '---').join('|')}|`,
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ];
  return [
    `Bounds: up to ${bounds.diskful} diskful members and ${bounds.others} others, newcomers included; one cut, one crash and one ForceRemove each, at any point. Every partition of up to 5 members, and of more every one into two groups. One client and one shadow, beside up to 3 voters and 1 tie-breaker. qmr as layouts and their neighbours have it. Up to ${bounds.smallDiskful} and ${bounds.smallOthers}: late notice, every connection graph of up to 5 members (a crash is a node without connections), every pair that the rules let overlap (without ForceRemove).`,
    '',
    `**${thousands(summary.states)} states**, ${thousands(summary.transitions)} transitions, ${thousands(summary.cpuSeconds)} s of CPU: ${thousands(summary.states / summary.cpuSeconds)} states per second of a core; this process took ${thousands(summary.seconds)} s with ${summary.workers} workers.`,
    '',
    ...table(
      ['kernel', 'what', 'scenarios', 'states', 'transitions', 'states per CPU second'],
      summary.rows.map((row) => [
        row.kernel,
        row.kind,
        thousands(row.scenarios),
        thousands(row.states),
        thousands(row.transitions),
        thousands(row.states / row.cpuSeconds),
      ]),
    ),
    '',
    `Broken invariants: ${summary.unsound.length}. Lower FTT between del-peer and forget-peer on one node: ${summary.unforgotten} scenarios.`,
    '',
    ...table(
      [
        'guard',
        'alone refuses what breaks an invariant',
        'first in refusing what the model finds safe',
        'for example',
      ],
      Object.entries(summary.guards)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, row]) => [name, thousands(row.justified), thousands(row.needless), row.example]),
    ),
    '',
    ...(summary.zones.length === 0
      ? []
      : [
          `A zone that may be lost before and after, and not on the way: ${summary.zones.length} scenarios, such as ${summary.zones[0] ?? ''}.`,
          '',
        ]),
    ...(summary.settled.length === 0
      ? []
      : [`FTT falls once two-phase commits have settled: ${summary.settled.join('; ')}.`, '']),
    ...summary.unsound
      .slice(0, 20)
      .flatMap((one) => ['```', one.broken.join('\n'), one.story ?? one.name, '```', '']),
  ].join('\n');
}
