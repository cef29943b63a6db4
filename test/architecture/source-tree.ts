import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** A file of the project as the rules see it. */
export interface SourceFile {
  /** Relative to the project's root, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** Every text file that is committed or about to be. */
export function readTree(): readonly SourceFile[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z']);
  return listed
    .toString()
    .split('\0')
    .filter((path) => path !== '' && existsSync(path))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
    .filter((file) => !file.text.includes('\0'));
}

/** The TypeScript among them. */
export const typescriptOf = (files: readonly SourceFile[]): readonly SourceFile[] =>
  files.filter((file) => file.path.endsWith('.ts'));

/** A rule that does not hold, at the place where a person has to look. */
export interface Violation {
  readonly at: string;
  readonly message: string;
}

/** Violations as lines, which is how a failed test shows them. */
export const asLines = (violations: readonly Violation[]): readonly string[] =>
  violations.map(({ at, message }) => `${at}: ${message}`);
