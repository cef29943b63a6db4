import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  chmodSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { ProjectedFile } from './projection.ts';

const link = '..data';

/**
 * Writes files so that a reader sees all of the old ones or all of the new ones: they stand in a directory of
 * their own, and the link that leads to it is swapped. Safe to repeat; unchanged content writes nothing.
 */
export function writeAtomicDirectory(directory: string, files: readonly ProjectedFile[]): boolean {
  mkdirSync(directory, { recursive: true });
  if (isCurrent(directory, files)) return false;
  const old = readLink(join(directory, link));
  const fresh = mkdtempSync(
    join(directory, '..'.concat(new Date().toISOString().replaceAll(/[:.]/g, '_'), '.')),
  );
  chmodSync(fresh, 0o755);
  for (const file of files) {
    const target = join(fresh, file.path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, file.content);
    chmodSync(target, file.mode);
  }
  const swap = join(directory, '..data_tmp');
  rmSync(swap, { force: true });
  symlinkSync(fresh.slice(directory.length + 1), swap);
  renameSync(swap, join(directory, link));
  linkEntries(directory, files);
  if (old !== undefined) rmSync(join(directory, old), { recursive: true, force: true });
  return true;
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function isCurrent(directory: string, files: readonly ProjectedFile[]): boolean {
  const current = join(directory, link);
  if (!existsSync(current)) return false;
  const present = readdirSync(current, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  if (present.length !== files.length) return false;
  return files.every((file) => {
    const path = join(current, file.path);
    return (
      existsSync(path) &&
      (statSync(path).mode & 0o777) === file.mode &&
      readFileSync(path).equals(file.content)
    );
  });
}

/** One link per top-level name, through `..data`, so that names stay while their content is swapped. */
function linkEntries(directory: string, files: readonly ProjectedFile[]): void {
  const wanted = new Set(files.map((file) => file.path.split('/')[0] ?? file.path));
  for (const name of readdirSync(directory)) {
    if (!name.startsWith('..') && !wanted.has(name)) rmSync(join(directory, name), { force: true });
  }
  for (const name of wanted) {
    const path = join(directory, name);
    if (readLink(path) === undefined) symlinkSync(join(link, name), path);
  }
}
