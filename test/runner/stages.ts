import { globSync } from 'node:fs';
import { filesOf, PROJECTS } from '../projects.ts';
import type { TestProject } from '../projects.ts';

/** One command of a run, with one line in its summary. */
export interface Stage {
  readonly name: string;
  /** What to run with the project's own Node: a script, then its arguments. */
  readonly command: readonly string[];
  /** The command is vitest, which counts its own tests; anything else counts as one check. */
  readonly countsTests: boolean;
  /** How long it may take, as printed beside how long it took. */
  readonly budgetMs: number;
  /** After how long it hangs, and is ended: far beyond its budget, since a machine may be busy with the parts. */
  readonly hangsAfterMs: number;
  /** Whether its output is shown as it comes, because it takes minutes. */
  readonly live: boolean;
}

const MINUTE_MS = 60_000;
const LIFECYCLE_BUDGET_MS = 8 * MINUTE_MS;
const HANGS_AFTER_MS = 20 * MINUTE_MS;
const PARTS_HANG_AFTER_MS = 45 * MINUTE_MS;
const VITEST = 'node_modules/vitest/vitest.mjs';

const tool = (name: string, ...command: string[]): Stage => ({
  name,
  command,
  countsTests: false,
  budgetMs: MINUTE_MS,
  hangsAfterMs: HANGS_AFTER_MS,
  live: false,
});

/** The tools that read the code without running it. */
export const TOOLS: readonly Stage[] = [
  tool('types', 'node_modules/typescript/bin/tsc', '--noEmit', '-p', '.'),
  tool('lint', 'node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings', '.'),
  tool('format', 'node_modules/oxfmt/bin/oxfmt', '--check', '.'),
  tool('unused code', 'node_modules/knip/bin/knip.js', '--no-progress'),
];

/** Fetches or builds the parts of the stack: it takes longest, and all that it needs is the network. */
export const FETCH: Stage = {
  name: 'parts',
  command: ['test/runner/fetch-parts.ts'],
  countsTests: false,
  budgetMs: 15 * MINUTE_MS,
  hangsAfterMs: PARTS_HANG_AFTER_MS,
  live: true,
};

/** The tests that need nothing but Node. */
export const fastTests = (): readonly Stage[] =>
  PROJECTS.filter((project) => !project.needsStack && testFiles(project).length > 0).map((project) =>
    tests(project, project.name, [], MINUTE_MS),
  );

/** The tests on the real parts, one stage for each area, so that each has its own time. */
export const stackTests = (): readonly Stage[] =>
  PROJECTS.filter((project) => project.needsStack).flatMap((project) =>
    [...areasOf(testFiles(project))].map(([area, files]) => tests(project, area, files, LIFECYCLE_BUDGET_MS)),
  );

/** Test files by area: a lifecycle of the end-to-end tests, or all of another folder. */
export function areasOf(files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const areas = new Map<string, string[]>();
  for (const file of files) {
    const [, folder = '', lifecycle = ''] = file.split('/');
    const area = folder === 'e2e' && !lifecycle.endsWith('.ts') ? `e2e ${lifecycle}` : folder;
    areas.set(area, [...(areas.get(area) ?? []), file]);
  }
  return areas;
}

function tests(project: TestProject, name: string, files: readonly string[], budgetMs: number): Stage {
  const reporter = project.needsStack ? 'verbose' : 'default';
  const command = [VITEST, 'run', ...files, '--project', project.name, '--reporter', reporter];
  const live = project.needsStack;
  return { name, command, countsTests: true, budgetMs, hangsAfterMs: HANGS_AFTER_MS, live };
}

function testFiles(project: TestProject): readonly string[] {
  const { include, exclude } = filesOf(project);
  return globSync(include, { exclude }).sort();
}
