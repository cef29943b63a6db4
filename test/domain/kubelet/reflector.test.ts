import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ApiObject } from '../../../deploy/local/kubelet/api/objects.ts';
import { KubernetesApi } from '../../../deploy/local/kubernetes/api.ts';
import { Reflector } from '../../../deploy/local/kubernetes/reflector.ts';

/** A server whose lists are fixed and whose watches the test plays. */
let server: Server;
let client: KubernetesApi;
let stop: AbortController;
let running: Promise<void>;
let heard: string[];
let asked: string[];
let items: ApiObject[];
let watches: ServerResponse[];

const object = (name: string, resourceVersion: string): ApiObject => ({
  metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion },
});

function answer(url: string, response: ServerResponse): void {
  const watch = new URL(url, 'http://server').searchParams;
  asked.push(watch.get('watch') === null ? 'list' : `watch ${watch.get('resourceVersion')}`);
  if (watch.get('watch') === null) {
    response.end(JSON.stringify({ metadata: { resourceVersion: '10' }, items }));
    return;
  }
  response.writeHead(200).flushHeaders();
  watches.push(response);
}

beforeEach(async () => {
  [heard, asked, items, watches] = [[], [], [object('a', '5')], []];
  server = createServer((request, response) => answer(request.url ?? '', response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const nothing = { ca: undefined, cert: undefined, key: undefined, token: undefined };
  client = new KubernetesApi({ server: new URL(`http://127.0.0.1:${port}`), insecure: false, ...nothing });
  stop = new AbortController();
  const reflector = new Reflector<ApiObject>(client, '/things', '', {
    changed: ({ metadata }) => heard.push(`+${metadata.name}`),
    removed: ({ metadata }) => heard.push(`-${metadata.name}`),
    listed: () => heard.push('listed'),
  });
  running = reflector.run(stop.signal, () => undefined);
});

afterEach(async () => {
  stop.abort();
  await running;
  client.close();
  server.closeAllConnections();
  server.close();
});

async function watching(count: number): Promise<ServerResponse> {
  await expect.poll(() => watches.length).toBe(count);
  return watches[count - 1] as ServerResponse;
}

function send(watch: ServerResponse, type: string, what: object): void {
  watch.write(`${JSON.stringify({ type, object: what })}\n`);
}

test('lists first, then hears of each change', async () => {
  const watch = await watching(1);
  send(watch, 'ADDED', object('b', '11'));
  send(watch, 'DELETED', object('a', '12'));
  await expect.poll(() => heard).toEqual(['+a', 'listed', '+b', '-a']);
  expect(asked).toEqual(['list', 'watch 10']);
});

test('goes on where it was when the connection breaks, bookmarks included', async () => {
  const watch = await watching(1);
  send(watch, 'ADDED', object('b', '11'));
  send(watch, 'BOOKMARK', { metadata: { resourceVersion: '20' } });
  await expect.poll(() => heard).toContain('+b');
  watch.destroy();
  await watching(2);
  expect(asked).toEqual(['list', 'watch 10', 'watch 20']);
  expect(heard).toEqual(['+a', 'listed', '+b']);
});

test('goes on when the server ends a watch in peace', async () => {
  (await watching(1)).end();
  await watching(2);
  expect(asked).toEqual(['list', 'watch 10', 'watch 10']);
});

test('lists again when its version has expired, and hears of what went meanwhile', async () => {
  const watch = await watching(1);
  items = [object('c', '30')];
  send(watch, 'ERROR', { kind: 'Status', code: 410, message: 'too old resource version' });
  await watching(2);
  expect(heard).toEqual(['+a', 'listed', '-a', '+c', 'listed']);
  expect(asked).toEqual(['list', 'watch 10', 'list', 'watch 10']);
});
