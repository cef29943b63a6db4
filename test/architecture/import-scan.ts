import { stripTypeScriptTypes } from 'node:module';
import { posix } from 'node:path';
import type { SourceFile } from './source-tree.ts';

/** One import of one file. */
export interface Import {
  readonly from: string;
  readonly line: number;
  /** A path of the project, or the name of a package, or `node:…`. */
  readonly target: string;
  readonly kind: 'file' | 'package' | 'builtin';
  /** It is gone when the types are stripped, so that nothing is loaded. */
  readonly typeOnly: boolean;
}

const SPECIFIER =
  /(?:^|[;}\n])\s*(?:import|export)\b(?:[^'"`;()]*?\bfrom)?\s*(['"])([^'"\n]+)\1|\bimport\(\s*(['"])([^'"\n]+)\3\s*\)/g;

/** Every static and dynamic import and every re-export of a file. */
export function scanImports(file: SourceFile): readonly Import[] {
  const loaded = new Set(specifiers(stripTypeScriptTypes(file.text)).map((one) => one.end));
  return specifiers(file.text).map(({ specifier, end }) => ({
    from: file.path,
    line: file.text.slice(0, end).split('\n').length,
    ...resolve(file.path, specifier),
    typeOnly: !loaded.has(end),
  }));
}

function specifiers(text: string): readonly { readonly specifier: string; readonly end: number }[] {
  // Stripping types puts blanks in their place, so that an import keeps its position.
  return [...text.matchAll(SPECIFIER)].map((match) => ({
    specifier: match[2] ?? match[4] ?? '',
    end: match.index + match[0].length,
  }));
}

function resolve(from: string, specifier: string): Pick<Import, 'target' | 'kind'> {
  if (specifier.startsWith('.')) {
    return { kind: 'file', target: posix.normalize(posix.join(posix.dirname(from), specifier)) };
  }
  if (specifier.startsWith('node:')) return { kind: 'builtin', target: specifier };
  const parts = specifier.split('/');
  return { kind: 'package', target: parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/') };
}
