import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a file so that a reader, or a crash, meets either the old content or the new one. */
export function writeWhole(file: string, content: string, mode = 0o600): void {
  mkdirSync(dirname(file), { recursive: true });
  const aside = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(aside, content, { mode });
    renameSync(aside, file);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
}

/** The content of a file, which is made first when it is not there. */
export function readOrWrite(file: string, make: () => string): string {
  if (!existsSync(file)) writeWhole(file, make());
  return readFileSync(file, 'utf8');
}
