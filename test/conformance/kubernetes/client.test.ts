import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKubernetesActivities } from '../../../activities/kubernetes/activities.ts';
import { createKubernetesClient, type KubernetesClient } from '../../../activities/kubernetes/client.ts';
import type { Mutation } from '../../../activities/mutations.ts';
import { useStack } from '../../../deploy/local/testing.ts';
import { runAttempt } from '../attempt.ts';
import { TcpProxy } from '../starter/tcp-proxy.ts';
import { openStage, readKubeConfig, type KubernetesStage } from './stage.ts';

const seen: string[] = [];
const note =
  (when: string) =>
  ({ verb, target }: Mutation): void =>
    void seen.push(`${when} ${verb} ${target.split('/').at(-1)}`);

let stage: KubernetesStage;
beforeAll(async () => {
  stage = await openStage({ hook: { before: note('before'), after: note('after') } });
});
afterAll(() => stage.close());

const configMap = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace: stage.namespace,
  name,
});
const bodyOf = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: stage.namespace },
});

test('the hook stands around every request that changes something, and around no other', async () => {
  seen.length = 0;
  const { metadata } = await stage.client.create(configMap('hooked'), bodyOf('hooked'));
  await stage.client.read(configMap('hooked'));
  await stage.client.list({ apiVersion: 'v1', kind: 'ConfigMap', namespace: stage.namespace });
  await stage.client.patch(configMap('hooked'), { type: 'merge', manager: 'x', body: { data: { a: '1' } } });
  await stage.client.delete(configMap('hooked'), { uid: metadata.uid, foreground: false });
  expect(seen).toEqual(
    ['create', 'patch', 'delete'].flatMap((verb) => [`before ${verb} hooked`, `after ${verb} hooked`]),
  );
});

test('a request that was refused has no after', async () => {
  seen.length = 0;
  await expect(stage.client.create(configMap('Not_A_Name'), bodyOf('Not_A_Name'))).rejects.toMatchObject({
    code: 422,
  });
  expect(seen).toEqual(['before create Not_A_Name']);
});

async function through(port: number, token?: string): Promise<KubeConfig> {
  const config = new KubeConfig();
  const user = (await readKubeConfig()).getCurrentUser() ?? { name: 'nobody' };
  config.loadFromClusterAndUser(
    { name: 'wire', server: `https://127.0.0.1:${port}`, skipTLSVerify: true },
    token === undefined ? user : { name: 'stranger', token },
  );
  return config;
}

async function openWire(): Promise<TcpProxy> {
  const server = new URL((await readKubeConfig()).getCurrentCluster()?.server ?? '');
  return TcpProxy.to(server.hostname, Number(server.port));
}

test('an API server that is away is a transient failure, and the same client goes on when it is back', async () => {
  await using wire = await openWire();
  const client = createKubernetesClient(await through(wire.port), { requestTimeoutMs: 2_000 });
  const look = () => client.read(configMap('anything'));
  expect(await look()).toBeNull();
  await wire.cut();
  await expect(look()).rejects.toMatchObject({ type: 'KubernetesUnavailable', nonRetryable: false });
  await wire.mend();
  expect(await look()).toBeNull();
});

test('an API server that takes the connection and says nothing is given up after the time-out', async () => {
  await using wire = await openWire();
  const client = createKubernetesClient(await through(wire.port), { requestTimeoutMs: 500 });
  expect(await client.read(configMap('anything'))).toBeNull();
  wire.freeze();
  await expect(client.read(configMap('anything'))).rejects.toMatchObject({
    type: 'KubernetesUnavailable',
    message: expect.stringContaining('got no answer'),
  });
  expect(await client.read(configMap('anything'))).toBeNull();
});

test('a cancelled attempt ends its request at once, as cancelled', async () => {
  await using wire = await openWire();
  const client = createKubernetesClient(await through(wire.port), { requestTimeoutMs: 60_000 });
  expect(await client.read(configMap('anything'))).toBeNull();
  wire.freeze();
  const attempt = runAttempt(() => client.read(configMap('anything')));
  attempt.cancel();
  await expect(attempt.result).rejects.toMatchObject({ name: 'CancelledFailure' });
});

test('a wire that freezes and breaks again and again leaves no error that nobody catches', async () => {
  await using wire = await openWire();
  const client = createKubernetesClient(await through(wire.port), { requestTimeoutMs: 300, watchSeconds: 1 });
  const done = new AbortController();
  const configMaps = { apiVersion: 'v1', kind: 'ConfigMap', namespace: stage.namespace };
  const answers = { given: 0, missed: 0 };
  const again = async (ask: () => Promise<unknown>): Promise<void> => {
    while (!done.signal.aborted) {
      // Every error arrives here, where it is awaited: one that comes by another way fails the run of the tests.
      await ask().then(
        () => (answers.given += 1),
        () => (answers.missed += 1),
      );
      await sleep(20);
    }
  };
  const watch = async (): Promise<void> => {
    const { metadata } = await client.list(configMaps);
    for await (const _ of client.watch(configMaps, metadata.resourceVersion ?? '', done.signal)) continue;
  };
  const asking = [1, 2, 3].flatMap(() => [again(() => client.list(configMaps)), again(watch)]);
  const more = (what: keyof typeof answers): Promise<void> => {
    const before = answers[what];
    return expect.poll(() => answers[what], { timeout: 20_000 }).toBeGreaterThan(before + 3);
  };
  for (let round = 0; round < 4; round += 1) {
    await more('given');
    await wire.cut();
    await wire.mend();
    await more('given');
    wire.freeze();
    await more('missed');
    await wire.cut();
    await wire.mend();
  }
  done.abort();
  await Promise.all(asking);
});

const removeFrom = (client: KubernetesClient, kind: string) =>
  createKubernetesActivities(client).removeKubernetesFinalizer({
    resource: { ...configMap('anything'), kind, uid: 'x' },
    finalizer: 'f',
  });

test('credentials that are not accepted may be renewed: that is transient', async () => {
  await using wire = await openWire();
  const client = createKubernetesClient(await through(wire.port, 'wrong'));
  await expect(removeFrom(client, 'ConfigMap')).rejects.toMatchObject({
    type: 'KubernetesUnavailable',
    nonRetryable: false,
    message: expect.stringContaining('Unauthorized'),
  });
});

test('a right that is lacking is for a person, and the failure names it', async () => {
  const config = new KubeConfig();
  config.loadFromFile((await useStack()).kubeconfig('starter'));
  await expect(removeFrom(createKubernetesClient(config), 'Secret')).rejects.toMatchObject({
    type: 'KubernetesForbidden',
    nonRetryable: true,
    message: expect.stringContaining('cannot get resource "secrets"'),
  });
});
