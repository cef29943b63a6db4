import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, posix } from 'node:path';
import type { ReadRoot } from './root.ts';

/** The files of one run of a container. */
export interface RunFiles {
  readonly log: string;
  readonly status: string;
  readonly message: string;
}

/** Where a run of a container keeps its files. */
export function runFilesOf(podDirectory: string, container: string, attempt: number): RunFiles {
  const directory = join(podDirectory, 'containers', container, String(attempt));
  return {
    log: join(directory, 'log'),
    status: join(directory, 'status'),
    message: join(directory, 'message'),
  };
}

/** Makes the files of a new run, and removes those of runs that nobody asks for any more. */
export function createRunFiles(podDirectory: string, container: string, attempt: number): RunFiles {
  const files = runFilesOf(podDirectory, container, attempt);
  mkdirSync(join(podDirectory, 'containers', container, String(attempt)), { recursive: true });
  writeFileSync(files.message, '');
  if (attempt >= 2) {
    rmSync(join(podDirectory, 'containers', container, String(attempt - 2)), {
      recursive: true,
      force: true,
    });
  }
  return files;
}

/** The last bytes of a file; empty when there is none. */
export function readTail(path: string, bytes: number): string {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return '';
  }
  try {
    const { size } = fstatSync(file);
    const buffer = Buffer.alloc(Math.min(bytes, size));
    readSync(file, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString();
  } finally {
    closeSync(file);
  }
}

const logLimitBytes = 64 * 2 ** 20;
const logKeptBytes = 4 * 2 ** 20;

/** Cuts a log that has grown too large down to its end; the container goes on writing to the same file. */
export function trimLog(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > logLimitBytes) writeFileSync(path, readTail(path, logKeptBytes));
}

/** The first bytes of what a container wrote as its termination message. */
export function readMessage(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Reads directories of an image's root on this machine. */
export function createRootReader(root: string): ReadRoot {
  return (path) => {
    const directory = posix.join(root, path);
    try {
      return readdirSync(directory, { withFileTypes: true }).map((entry) => {
        if (entry.isSymbolicLink()) {
          return { name: entry.name, kind: 'link', target: readlinkSync(join(directory, entry.name)) };
        }
        return { name: entry.name, kind: entry.isDirectory() ? 'directory' : 'file' };
      });
    } catch {
      return undefined;
    }
  };
}
