import type { SourceFile, Violation } from './source-tree.ts';

const MOST_LINES = 400;
const USUAL_LINES = 150;
/** How many of a hundred files may be longer than is usual. */
const LONG_PERCENT = 25;

const KEBAB_CASE = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const EMPTY_NAMES: ReadonlySet<string> = new Set([
  'util',
  'utils',
  'helper',
  'helpers',
  'common',
  'manager',
  'misc',
]);

/** Programs that others have named. */
const FOREIGN_NAMES: ReadonlySet<string> = new Set(['kube-controller-manager']);

const linesOf = (file: SourceFile): number => file.text.split('\n').length - 1;

/** Files that are two files. */
export const checkSize = (files: readonly SourceFile[]): readonly Violation[] =>
  files
    .filter((file) => linesOf(file) > MOST_LINES)
    .map((file) => ({ at: file.path, message: `${linesOf(file)} lines are over ${MOST_LINES}: two files` }));

/** The files that are longer than is usual, when they are too many to be exceptions. */
export function checkUsualSize(files: readonly SourceFile[]): readonly Violation[] {
  const long = files.filter((file) => linesOf(file) > USUAL_LINES);
  if (long.length * 100 <= files.length * LONG_PERCENT) return [];
  return long.map((file) => ({ at: file.path, message: `${linesOf(file)} lines are over ${USUAL_LINES}` }));
}

/** Names of files and folders: kebab-case, and about what is in them. */
export const checkNames = (files: readonly SourceFile[]): readonly Violation[] =>
  files.flatMap((file) =>
    file.path.split('/').flatMap((segment) => {
      const words = segment.replace(/\.(?:full\.)?(?:test\.)?(?:ts|mjs)$|\.config\.ts$/, '');
      if (!KEBAB_CASE.test(words)) return [{ at: file.path, message: `${segment} is not in kebab-case` }];
      if (FOREIGN_NAMES.has(words)) return [];
      const empty = words.split('-').find((word) => EMPTY_NAMES.has(word));
      return empty === undefined
        ? []
        : [{ at: file.path, message: `${segment}: "${empty}" does not say what it is` }];
    }),
  );

const FUNCTION_OR_CLASS = /^export (?:async function|function|class) (\w+)/;
const METHOD = /^ {2}(\w+)\(/;

/** Exported functions and classes without a sentence above them. */
export const checkDocs = (files: readonly SourceFile[]): readonly Violation[] =>
  files.flatMap((file) => undocumented(file, () => FUNCTION_OR_CLASS));

/** Activities without a sentence in their contract: what they do, and why they may run twice. */
export const checkActivityDocs = (files: readonly SourceFile[]): readonly Violation[] =>
  files
    .filter((file) => /^activities\/[^/]+\/contract\.ts$/.test(file.path))
    .flatMap((file) => {
      let inside = false;
      return undocumented(file, (line) => {
        if (/^export interface \w+Activities\b/.test(line)) inside = true;
        if (line === '}') inside = false;
        return inside ? METHOD : null;
      });
    });

function undocumented(file: SourceFile, patternFor: (line: string) => RegExp | null): readonly Violation[] {
  const lines = file.text.split('\n');
  return lines.flatMap((line, at) => {
    const name = patternFor(line)?.exec(line)?.[1];
    if (name === undefined || lines[at - 1]?.trimEnd().endsWith('*/')) return [];
    return [{ at: `${file.path}:${at + 1}`, message: `${name} has no sentence above it` }];
  });
}
