import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openHome } from '../../../deploy/local/home.ts';
import { findMarked } from '../../../deploy/local/marks.ts';
import { checkPorts, findPortHolders } from '../../../deploy/local/ports.ts';
import { silentProgress } from '../../../deploy/local/progress.ts';
import { findPart } from '../../../deploy/local/settings.ts';
import { startStack } from '../../../deploy/local/start.ts';
import { purgeHome } from '../../../deploy/local/stop.ts';
import { startTestStack } from '../../../deploy/local/testing.ts';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

test.for(['127.0.0.1', '0.0.0.0', '::'])('names the process that listens on %s', async (host) => {
  const port = await listen(host);
  expect(findPortHolders([port])).toMatchObject([{ port, pid: process.pid }]);
});

test('does not mind who listens on another loopback address', async () => {
  const port = await listen('127.0.0.77');
  expect(findPortHolders([port])).toEqual([]);
});

test('refuses to start on a port that somebody has, and starts nothing', async () => {
  const part = findPart('etcd-pool');
  const port = await listen('127.0.0.1');
  const portOffset = port - (part.ports['client'] ?? 0);
  const home = openHome(mkdtempSync(join(tmpdir(), 'keelson-ports-')));
  const { signal } = new AbortController();
  const start = startStack({
    homeDirectory: home.directory,
    portOffset,
    onlyParts: ['etcd-pool'],
    progress: silentProgress,
    signal,
  });
  await expect(start).rejects.toThrow(
    new RegExp(`a port is taken: ${port} for etcd-pool \\(client\\) by process ${process.pid} \\(`),
  );
  expect(findMarked(home)).toEqual([]);
  purgeHome(home);
});

test('refuses an offset that leads beyond the last port', async () => {
  const home = openHome(mkdtempSync(join(tmpdir(), 'keelson-ports-')));
  await expect(checkPorts(home, [findPart('temporal')], 60_000)).rejects.toThrow(/port \d+ does not exist/);
  purgeHome(home);
});

test('lets two stacks live side by side', async () => {
  const one = await startTestStack({ onlyParts: ['temporal'] });
  const other = await startTestStack({ onlyParts: ['temporal'] });
  try {
    expect(one.temporalAddress).not.toBe(other.temporalAddress);
    await one.stop();
    expect(other.part('temporal').process().pid).toBeGreaterThan(0);
  } finally {
    await other.stop();
  }
});

async function listen(host: string): Promise<number> {
  const server = createServer();
  servers.push(server);
  // High enough that an offset leads to it, low enough that no outgoing connection has it.
  for (let port = 20_000 + (process.pid % 5_000); ; port += 1) {
    if (findPortHolders([port, port + 1]).length > 0) continue;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port, host, ipv6Only: false }, resolve);
    });
    return (server.address() as AddressInfo).port;
  }
}
