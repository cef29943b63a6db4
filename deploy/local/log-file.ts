import { closeSync, existsSync, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs';

const LIMIT_BYTES = 64 * 1024 * 1024;
const TAIL_BYTES = 64 * 1024;

/** Opens a log for appending; one that has grown too large is kept once as `.1` and begun anew. */
export function openLog(file: string): number {
  if (existsSync(file) && statSync(file).size > LIMIT_BYTES) renameSync(file, `${file}.1`);
  return openSync(file, 'a', 0o600);
}

/** The last lines of a log, or none when it has none. */
export function readLastLines(file: string, count: number): readonly string[] {
  if (!existsSync(file)) return [];
  const handle = openSync(file, 'r');
  try {
    const { size } = fstatSync(handle);
    const length = Math.min(size, Math.max(TAIL_BYTES, count * 256));
    const buffer = Buffer.alloc(length);
    readSync(handle, buffer, 0, length, size - length);
    const lines = buffer.toString('utf8').split('\n');
    if (lines.at(-1) === '') lines.pop();
    return lines.slice(-count);
  } finally {
    closeSync(handle);
  }
}

/** How long a log is now. */
export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** What was added to a log since it had this length; a log that was begun anew is read from its start. */
export function readFrom(file: string, offset: number): { readonly text: string; readonly next: number } {
  const size = sizeOf(file);
  const start = size < offset ? 0 : offset;
  if (size === start) return { text: '', next: start };
  const handle = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(size - start);
    const length = readSync(handle, buffer, 0, buffer.length, start);
    return { text: buffer.toString('utf8', 0, length), next: start + length };
  } finally {
    closeSync(handle);
  }
}
