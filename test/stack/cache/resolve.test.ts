import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Artifact, Source } from '../../../deploy/local/cache/artifact.ts';
import { vendorDownload } from '../../../deploy/local/cache/download.ts';
import { resolveArtifact } from '../../../deploy/local/cache/resolve.ts';
import { sizeOf } from '../../../deploy/local/log-file.ts';
import { silentProgress } from '../../../deploy/local/progress.ts';

const CONTENT = Buffer.alloc(300_000, 'keelson ');
const SHA256 = createHash('sha256').update(CONTENT).digest('hex');
const never = new AbortController().signal;

let cache: string;
let server: Server;
let requests: IncomingMessage[];
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeEach(async () => {
  cache = mkdtempSync(join(tmpdir(), 'keelson-cache-'));
  process.env['KEELSON_CACHE'] = cache;
  requests = [];
  answer = serveContent;
  server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.env['KEELSON_TEST_DOWNLOADS'] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
  delete process.env['KEELSON_CACHE'];
  delete process.env['KEELSON_TEST_DOWNLOADS'];
  rmSync(cache, { recursive: true, force: true });
});

test('fetches once, and never again', async () => {
  const first = await resolve(program());
  expect(readFileSync(first.file('program'))).toEqual(CONTENT);
  await resolve(program());
  expect(requests).toHaveLength(1);
});

test('lets two who need the same thing fetch it once', async () => {
  const [one, other] = await Promise.all([resolve(program()), resolve(program())]);
  expect(one.file('program')).toBe(other.file('program'));
  expect(requests).toHaveLength(1);
});

test('refuses what has the wrong checksum, and keeps nothing of it', async () => {
  answer = (_, response) => response.end('something else');
  await expect(resolve(program())).rejects.toThrow(
    /program of demo 1\.0 .* has the wrong checksum: sha256 [0-9a-f]+ instead of/,
  );
  expect(kept()).toEqual([]);
});

test('says which address answered what when the file is not there', async () => {
  answer = (_, response) => response.writeHead(404).end();
  await expect(resolve(program())).rejects.toThrow(
    /demo 1\.0 cannot be had \(the vendor's program: http:\S+ answered 404/,
  );
  expect(kept()).toEqual([]);
});

test('says that the server cannot be reached', async () => {
  await new Promise((resolve) => server.close(resolve));
  await expect(resolve(program())).rejects.toThrow(/cannot be reached \(ECONNREFUSED\)/);
});

test('goes on where an interrupted download stopped', async () => {
  const part = join(cache, 'downloads', 'program.part');
  let breakOff = (): void => {};
  answer = (_, response) => {
    response.writeHead(200, { 'content-length': CONTENT.length }).write(CONTENT.subarray(0, 100_000));
    breakOff = () => void response.destroy();
  };
  const attempt = Promise.allSettled([resolve(program())]);
  await expect.poll(() => sizeOf(part), { interval: 5 }).toBeGreaterThan(0);
  breakOff();
  expect(await attempt).toMatchObject([{ status: 'rejected' }]);
  const have = sizeOf(part);
  answer = serveContent;
  const found = await resolve(program());
  expect(requests.at(-1)?.headers.range).toBe(`bytes=${have}-`);
  expect(readFileSync(found.file('program'))).toEqual(CONTENT);
});

test('begins anew when the server no longer has the rest', async () => {
  const partial = join(cache, 'downloads');
  mkdirSync(partial, { recursive: true });
  writeFileSync(join(partial, 'program.part'), Buffer.alloc(CONTENT.length + 1));
  const found = await resolve(program());
  expect(readFileSync(found.file('program'))).toEqual(CONTENT);
});

test('tries the next source when a tool for the first one is missing', async () => {
  const first: Source = {
    kind: 'fetched',
    what: 'a build',
    findObstacle: async () => 'the compiler is not on PATH',
    fetch: () => Promise.reject(new Error('must not be called')),
  };
  const found = await resolve({ ...program(), sources: [first, ...program().sources] });
  expect(readFileSync(found.file('program'))).toEqual(CONTENT);
});

test('says what is missing when no source can be used', async () => {
  const source: Source = {
    kind: 'fetched',
    what: 'a build',
    findObstacle: async () => 'the compiler is not on PATH',
    fetch: () => Promise.reject(new Error('must not be called')),
  };
  const missing = resolve({ ...program(), sources: [source] });
  await expect(missing).rejects.toMatchObject({
    message: 'demo 1.0 cannot be had (a build: the compiler is not on PATH)',
    remedy: expect.stringContaining('keelson doctor'),
  });
});

test('fetches again what was damaged in the cache', async () => {
  const first = await resolve(program());
  truncateSync(first.file('program'), 10);
  const second = await resolve(program());
  expect(readFileSync(second.file('program'))).toEqual(CONTENT);
  expect(requests).toHaveLength(2);
});

test('takes over the lock of a fetch that was killed', async () => {
  writeFileSync(join(cache, 'demo-1.0.lock'), JSON.stringify({ pid: process.pid, startTime: '1' }));
  await resolve(program());
  expect(existsSync(join(cache, 'demo-1.0.lock'))).toBe(false);
});

function program(): Artifact {
  return {
    name: 'demo',
    version: '1.0',
    files: { program: { sha256: SHA256 } },
    sources: [
      vendorDownload({
        baseVariable: 'KEELSON_TEST_DOWNLOADS',
        base: 'http://127.0.0.1:1',
        path: 'v1/program',
      }),
    ],
  };
}

function resolve(artifact: Artifact) {
  return resolveArtifact(artifact, silentProgress, never);
}

/** What the cache holds besides downloads that may go on. */
function kept(): readonly string[] {
  return readdirSync(cache).filter((name) => name !== 'downloads');
}

function serveContent(request: IncomingMessage, response: ServerResponse): void {
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  if (from >= CONTENT.length) response.writeHead(416).end();
  else if (from > 0)
    response.writeHead(206, { 'content-length': CONTENT.length - from }).end(CONTENT.subarray(from));
  else response.writeHead(200, { 'content-length': CONTENT.length }).end(CONTENT);
}
