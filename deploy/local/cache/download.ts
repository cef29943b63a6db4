import { createWriteStream, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sizeOf } from '../log-file.ts';
import { messageOf, systemCode } from '../stack-error.ts';
import type { FetchContext, FetchedSource } from './artifact.ts';
import { findOnPath, runTool } from './tool.ts';

/** A file on a vendor's server. */
export interface VendorFile {
  /** The environment variable that puts another server in the vendor's place. */
  readonly baseVariable: string;
  readonly base: string;
  readonly path: string;
  /** Which member of the tar archive becomes which file; nothing when the file is the program itself. */
  readonly members?: Readonly<Record<string, string>>;
}

/** Downloads from the vendor, going on where an interrupted download stopped. */
export function vendorDownload(vendor: VendorFile): FetchedSource {
  return {
    kind: 'fetched',
    what: `the vendor's ${basename(vendor.path)}`,
    async findObstacle() {
      if (vendor.members === undefined || findOnPath('tar') !== undefined) return undefined;
      return 'tar is not on PATH';
    },
    async fetch(directory, context) {
      const base = process.env[vendor.baseVariable] ?? vendor.base;
      const file = await downloadFile(`${base.replace(/\/$/, '')}/${vendor.path}`, context);
      if (vendor.members === undefined) {
        renameSync(file, join(directory, basename(vendor.path)));
        return;
      }
      await runTool('tar', ['-xf', file, '-C', directory, ...Object.values(vendor.members)]);
      for (const [name, member] of Object.entries(vendor.members))
        renameSync(join(directory, member), join(directory, name));
      rmSync(file);
    },
  };
}

async function downloadFile(url: string, { cacheDirectory, task, signal }: FetchContext): Promise<string> {
  const directory = join(cacheDirectory, 'downloads');
  mkdirSync(directory, { recursive: true });
  const file = join(directory, basename(new URL(url).pathname));
  const part = `${file}.part`;
  const have = sizeOf(part);
  const response = await request(url, have, signal);
  if (response.status === 416) {
    rmSync(part, { force: true });
    return downloadFile(url, { cacheDirectory, task, signal });
  }
  if (!response.ok || response.body === null)
    throw new Error(`${url} answered ${response.status} ${response.statusText}`.trim());
  const resumed = response.status === 206;
  const total = Number(response.headers.get('content-length') ?? 0) + (resumed ? have : 0);
  let received = resumed ? have : 0;
  const count = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      received += chunk.length;
      task.update(`fetching, ${megabytes(received)}${total > 0 ? ` of ${megabytes(total)}` : ''} MB`);
      yield chunk;
    }
  };
  await pipeline(
    Readable.fromWeb(response.body),
    count,
    createWriteStream(part, { flags: resumed ? 'a' : 'w' }),
    { signal },
  );
  if (total > 0 && received < total) throw new Error(`${url} ended after ${received} of ${total} bytes`);
  renameSync(part, file);
  return file;
}

async function request(url: string, from: number, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, { signal, headers: from > 0 ? { range: `bytes=${from}-` } : {} });
  } catch (error) {
    const cause: unknown = error instanceof Error ? error.cause : undefined;
    throw new Error(`${url} cannot be reached (${systemCode(cause) ?? messageOf(cause ?? error)})`, {
      cause: error,
    });
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
