import type { SourceFile, Violation } from './source-tree.ts';

/** A text that may not stand in the project's files. */
export interface TextRule {
  readonly name: string;
  readonly pattern: RegExp;
  /** The files that it is looked for in. */
  readonly files: RegExp;
  readonly message: string;
}

const TYPESCRIPT = /\.ts$/;
const EVERY_FILE = /^(?!LICENSE$|.*go\.sum$)/;
// Its integrity hashes can spell anything.
const EVERY_BUT_LOCK = /^(?!LICENSE$|.*go\.sum$|package-lock\.json$)/;

/** Puts a text together from parts, so that it is not found where it is spelt. */
export const spell = (...parts: readonly string[]): string => parts.join('');

const host = (...labels: readonly string[]): string => labels.join('\\.');
const REGISTRIES = [
  host('npmjs', 'org'),
  host('npmjs', 'com'),
  host('pypi', 'org'),
  host('pythonhosted', 'org'),
  host('proxy', 'golang', 'org'),
  host('deb', 'debian', 'org'),
  host('snapshot', 'debian', 'org'),
  host('nodesource', 'com'),
];

/** Everything that is refused wherever it stands. */
export const TEXT_RULES: readonly TextRule[] = [
  {
    name: 'the type that switches types off',
    pattern: new RegExp(spell('(?::|\\bas|<) ?a', 'ny\\b')),
    files: TYPESCRIPT,
    message: 'name the type, or use unknown and look',
  },
  {
    name: 'a silenced type error',
    pattern: new RegExp(spell('@ts', '-(?:ignore|expect-error|nocheck)')),
    files: TYPESCRIPT,
    message: 'mend the type',
  },
  {
    name: 'a test that does not run, or that alone runs',
    pattern: /\b(?:it|test|describe)\.(?:skip|todo|only)\b|\.fails\(/,
    files: /^(?:test|workflows|activities)\/.*\.ts$/,
    message: 'every test runs, and means it',
  },
  {
    name: 'a silenced lint rule without a reason',
    pattern: /(?:eslint|oxlint)-disable(?!.* -- \S)/,
    files: /\.(?:ts|mjs)$/,
    message: 'say why after " -- "',
  },
  {
    name: 'a path of one machine',
    pattern: new RegExp(`/(?:${['work', 'root', 'farm'].join('|')})/|/home/[a-z]`),
    files: EVERY_BUT_LOCK,
    message: 'other machines do not have it',
  },
  {
    name: 'the host of a package registry',
    pattern: new RegExp(REGISTRIES.join('|'), 'i'),
    files: EVERY_FILE,
    message: 'which registry is used is a setting of the machine',
  },
  {
    name: 'a word about who wrote it and how',
    pattern: /\b(?:integrator|sub-?agents?|coding agents?|language model|LLM|claude)\b/i,
    files: /^(?!LICENSE$|package-lock\.json$|test\/architecture\/text-rules\.ts$)/,
    message: 'the project speaks of itself, not of how the work was done',
  },
];

/** Every line in which a rule finds what it refuses. */
export const checkText = (rules: readonly TextRule[], files: readonly SourceFile[]): readonly Violation[] =>
  rules.flatMap((rule) =>
    files
      .filter((file) => rule.files.test(file.path))
      .flatMap((file) =>
        file.text
          .split('\n')
          .flatMap((line, at) =>
            rule.pattern.test(line)
              ? [{ at: `${file.path}:${at + 1}`, message: `${rule.name}: ${rule.message}` }]
              : [],
          ),
      ),
  );
