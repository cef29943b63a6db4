/** A group of test files that is run with one set of options. */
export interface TestProject {
  readonly name: string;
  /** The folders below `test/` that belong to it; a folder that no project names belongs to `unit`. */
  readonly folders: readonly string[];
  /** Whether its tests need the embedded stack, and so run in `npm test` only. */
  readonly needsStack: boolean;
  /** How many test files run at the same time. */
  readonly maxWorkers: number;
  readonly testTimeoutMs: number;
}

const FAST = { needsStack: false, maxWorkers: 1, testTimeoutMs: 180_000 } as const;
const REAL = { needsStack: true, maxWorkers: 1, testTimeoutMs: 300_000 } as const;

/** Every project, in the order in which a person wants to hear of its failures. */
export const PROJECTS: readonly TestProject[] = [
  { name: 'unit', folders: [], ...FAST, maxWorkers: 2 },
  { name: 'plans', folders: ['plans'], ...FAST },
  { name: 'simulation', folders: ['simulation', 'model'], ...FAST, maxWorkers: 2 },
  { name: 'replay', folders: ['replay'], ...FAST },
  { name: 'architecture', folders: ['architecture'], ...FAST },
  { name: 'stack', folders: ['stack'], ...REAL },
  { name: 'conformance', folders: ['conformance'], ...REAL },
  { name: 'faults', folders: ['faults'], ...REAL },
  { name: 'e2e', folders: ['e2e'], ...REAL },
];

/** Files that only `npm run test:full` runs: the whole matrix where `npm test` has one case of each class. */
export const FULL_ONLY = 'test/**/*.full.test.ts';

/** Whether this is a run of the whole matrix. */
export const runsFullMatrix = (): boolean => process.env['KEELSON_TEST_FULL'] === '1';

/** The folders that some project names. */
export const namedFolders = (): readonly string[] => PROJECTS.flatMap((project) => project.folders);

/** The glob patterns of a project's test files, and of those that it leaves to others. */
export function filesOf(project: TestProject): { readonly include: string[]; readonly exclude: string[] } {
  const below = (folders: readonly string[]): string[] =>
    folders.map((folder) => `test/${folder}/**/*.test.ts`);
  const fullOnly = runsFullMatrix() ? [] : [FULL_ONLY];
  if (project.folders.length > 0) return { include: below(project.folders), exclude: fullOnly };
  return { include: ['test/**/*.test.ts'], exclude: [...below(namedFolders()), ...fullOnly] };
}
