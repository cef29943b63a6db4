/** The parts that the import rules speak of. */
export type LayerName =
  | 'domain'
  | 'pure'
  | 'portable'
  | 'shared'
  | 'contract'
  | 'workflow'
  | 'bundle'
  | 'activity contract'
  | 'activity'
  | 'worker'
  | 'starter'
  | 'command line'
  | 'stack'
  | 'docs'
  | 'test'
  | 'entry';

/** One row of the import table. */
export interface Layer {
  readonly name: LayerName;
  /** The files, as a person reads it. */
  readonly files: string;
  readonly matches: RegExp;
  /** What it may import and run, beside itself. */
  readonly imports: readonly LayerName[];
  /** What it may import as types, beside those. */
  readonly types: readonly LayerName[];
  /** The packages that it may import: named ones, or every one; `node:` modules go with every one. */
  readonly packages: readonly string[] | 'every';
  /** The packages of which it may import types, beside those. */
  readonly packageTypes?: readonly string[];
}

const TEMPORAL_IN_BUNDLE = ['@temporalio/workflow', '@temporalio/common'];
const EVERY_LAYER: readonly LayerName[] = [
  'domain',
  'pure',
  'portable',
  'shared',
  'contract',
  'workflow',
  'bundle',
  'activity contract',
  'activity',
  'worker',
  'starter',
  'command line',
  'stack',
  'docs',
  'test',
];

/** The import table. A file belongs to the first row that it matches. */
export const LAYERS: readonly Layer[] = [
  {
    name: 'domain',
    files: '`workflows/<lifecycle>/domain/`',
    matches: /^workflows\/(?!shared\/)[^/]+\/domain\//,
    imports: ['pure'],
    types: ['portable', 'shared'],
    packages: [],
  },
  {
    name: 'contract',
    files: '`workflows/<lifecycle>/contract.ts`',
    matches: /^workflows\/(?!shared\/)[^/]+\/contract\.ts$/,
    imports: ['pure', 'portable', 'shared', 'domain'],
    types: ['activity contract'],
    packages: TEMPORAL_IN_BUNDLE,
  },
  {
    name: 'shared',
    files: '`workflows/shared/`, the rest',
    matches: /^workflows\/shared\//,
    imports: ['pure', 'portable'],
    types: ['activity contract'],
    packages: TEMPORAL_IN_BUNDLE,
  },
  {
    name: 'bundle',
    files: '`workflows/index.ts`',
    matches: /^workflows\/[^/]+\.ts$/,
    imports: ['workflow', 'shared', 'portable', 'pure', 'contract'],
    types: [],
    packages: TEMPORAL_IN_BUNDLE,
  },
  {
    name: 'workflow',
    files: '`workflows/<lifecycle>/`, the rest',
    matches: /^workflows\//,
    imports: ['pure', 'portable', 'shared', 'contract', 'domain'],
    types: ['activity contract'],
    packages: TEMPORAL_IN_BUNDLE,
  },
  {
    name: 'activity contract',
    files: '`activities/<system>/contract.ts`',
    matches: /^activities\/[^/]+\/contract\.ts$/,
    imports: [],
    types: ['pure', 'portable', 'shared', 'contract', 'domain'],
    packages: [],
  },
  {
    name: 'activity',
    files: '`activities/`, the rest',
    matches: /^activities\//,
    imports: ['pure', 'portable', 'activity contract'],
    types: ['shared', 'contract', 'domain'],
    packages: 'every',
  },
  {
    name: 'worker',
    files: '`worker/`',
    matches: /^worker\//,
    imports: [
      'activity',
      'activity contract',
      'bundle',
      'workflow',
      'contract',
      'domain',
      'shared',
      'portable',
      'pure',
    ],
    types: [],
    packages: 'every',
  },
  {
    name: 'command line',
    files: '`starter/cli/`',
    matches: /^starter\/cli\//,
    imports: ['starter', 'contract', 'shared', 'portable', 'pure', 'domain', 'stack'],
    types: [],
    packages: 'every',
  },
  {
    name: 'starter',
    files: '`starter/`, the rest',
    matches: /^starter\//,
    imports: ['contract', 'shared', 'portable', 'pure'],
    types: [],
    packages: 'every',
  },
  {
    name: 'stack',
    files: '`deploy/local/`',
    matches: /^deploy\//,
    imports: ['shared', 'portable', 'pure'],
    types: [],
    packages: 'every',
  },
  {
    name: 'docs',
    files: '`docs/`',
    matches: /^docs\//,
    imports: ['contract', 'domain', 'shared', 'portable', 'pure', 'test'],
    types: [],
    packages: 'every',
  },
  {
    name: 'test',
    files: '`test/`',
    matches: /^test\//,
    imports: EVERY_LAYER,
    types: [],
    packages: 'every',
  },
  {
    name: 'entry',
    files: '`bin/` and configuration',
    matches: /^(?:bin\/.*|[^/]+\.config\.ts)$/,
    imports: ['command line', 'test'],
    types: [],
    packages: 'every',
  },
];

/**
 * Two parts of `workflows/shared/` are told by what their files load, themselves or through others, and not by
 * their names: the pure one loads no package, so that a domain may use it; the portable one loads what runs on
 * either side of Temporal, so that an activity may.
 */
export const SHARED_PARTS: readonly Layer[] = [
  {
    name: 'pure',
    files: '`workflows/shared/`, files that load no package',
    matches: /^workflows\/shared\//,
    imports: [],
    types: ['portable', 'shared', 'activity contract'],
    packages: [],
    packageTypes: TEMPORAL_IN_BUNDLE,
  },
  {
    name: 'portable',
    files: '`workflows/shared/`, files that load `@temporalio/common` only',
    matches: /^workflows\/shared\//,
    imports: ['pure'],
    types: ['shared', 'activity contract'],
    packages: ['@temporalio/common'],
    packageTypes: TEMPORAL_IN_BUNDLE,
  },
];
