import { statfsSync } from 'node:fs';

/** Something about the stack that a person has to act on: what is wrong, and what to do. */
export class StackError extends Error {
  readonly remedy: string;
  readonly exitCode: number;

  constructor(message: string, remedy: string, options: { cause?: unknown; exitCode?: number } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'StackError';
    this.remedy = remedy;
    this.exitCode = options.exitCode ?? 1;
  }
}

/** Refuses to begin what a disk has no room for. */
export function checkRoom(directory: string, neededBytes: number, setting: string): void {
  const { bavail, bsize } = statfsSync(directory);
  if (bavail * bsize >= neededBytes) return;
  const left = `${Math.floor((bavail * bsize) / 1e6)} MB left of the ${Math.ceil(neededBytes / 1e6)} MB that are needed`;
  throw new StackError(
    `the disk that holds ${directory} is full: ${left}`,
    `Free some space, or set ${setting} to a directory on another disk.`,
  );
}

/** The code of a failed system call (`ENOSPC`, `EACCES` …), when the error is one. */
export function systemCode(error: unknown): string | undefined {
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** Turns what the file system refuses into a sentence with a remedy; anything else is passed on as it came. */
export function explainFileError(error: unknown, path: string, setting: string): unknown {
  switch (systemCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new StackError(
        `the disk that holds ${path} is full`,
        `Free some space, or set ${setting} to a directory on another disk.`,
        {
          cause: error,
        },
      );
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new StackError(
        `${path} may not be written to`,
        `Give yourself the rights, or set ${setting} to a directory of your own.`,
        {
          cause: error,
        },
      );
    case 'ENOTDIR':
    case 'EEXIST':
      return new StackError(
        `${path} is not a directory`,
        `Move it away, or set ${setting} to another directory.`,
        { cause: error },
      );
    default:
      return error;
  }
}

/** The message of anything that was thrown, without what only a programmer would read. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n')[0] ?? message;
}
