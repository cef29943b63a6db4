import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { ServerResponse } from 'node:http';

/** What part of a log somebody asks for. */
export interface LogRequest {
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly follow: boolean;
}

const chunkBytes = 65_536;
const followMs = 200;

/** Sends a log, and what is added to it for as long as the container runs and the client listens. */
export function sendLog(
  response: ServerResponse,
  file: string,
  wanted: LogRequest,
  isOpen: () => boolean,
): void {
  const log = openSync(file, 'r');
  let position = findStart(log, wanted.tailLines);
  let left = wanted.limitBytes ?? Infinity;
  const pump = (): void => {
    // A log that was cut is shorter than before; what is in it now has been sent.
    position = Math.min(position, fstatSync(log).size);
    while (left > 0) {
      const buffer = Buffer.alloc(Math.min(chunkBytes, left));
      const read = readSync(log, buffer, 0, buffer.length, position);
      if (read === 0) return;
      position += read;
      left -= read;
      response.write(buffer.subarray(0, read));
    }
  };
  response.writeHead(200, { 'content-type': 'text/plain' });
  response.flushHeaders();
  const timer = setInterval(
    () => {
      const isLast = !wanted.follow || left <= 0 || !isOpen() || response.destroyed;
      pump();
      if (!isLast) return;
      clearInterval(timer);
      closeSync(log);
      response.end();
    },
    wanted.follow ? followMs : 0,
  );
  pump();
}

/** Where the last lines of a file begin. */
function findStart(log: number, tailLines: number | undefined): number {
  if (tailLines === undefined) return 0;
  const { size } = fstatSync(log);
  let missing = tailLines + 1;
  let end = size;
  while (end > 0) {
    const begin = Math.max(end - chunkBytes, 0);
    const buffer = Buffer.alloc(end - begin);
    readSync(log, buffer, 0, buffer.length, begin);
    for (let index = buffer.length - 1; index >= 0; index -= 1) {
      // A line break at the very end closes the last line and begins none.
      const isBreak = buffer[index] === 10 && begin + index !== size - 1;
      if (isBreak) missing -= 1;
      if (missing === 1 && isBreak) return begin + index + 1;
    }
    end = begin;
  }
  return tailLines === 0 ? size : 0;
}
