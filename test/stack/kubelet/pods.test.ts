import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import type { NamespaceHandle } from '../../../deploy/local/testing.ts';
import { PATIENCE, TestNamespace, shell } from './cluster.ts';
import { ready, rows } from './pod-rows.ts';

let handle: NamespaceHandle;
let space: TestNamespace;

beforeAll(async () => {
  const stack = await useStack();
  handle = await stack.createNamespace('kubelet');
  space = new TestNamespace(stack.kubeconfig('admin'), handle.name);
  await space.create(space.path('configmaps'), { metadata: { name: 'conf' }, data: { color: 'blue' } });
  await space.create(space.path('secrets'), {
    metadata: { name: 'keys' },
    stringData: { password: 's3cret' },
  });
  await Promise.all(
    Object.entries(rows).map(([name, { spec }]) => space.createPod(name, spec, { labels: { row: name } })),
  );
});

afterAll(async () => {
  await handle.remove();
  space.api.close();
});

describe('a node', () => {
  test.each(Object.entries(rows).map(([pod, row]) => ({ pod, ...row })))(
    '$pod: $name',
    async ({ pod, expected, event }) => {
      await expect.poll(() => space.readPod(pod), PATIENCE).toMatchObject(expected);
      if (event === undefined) return;
      const [reason, message] = event;
      await expect
        .poll(() => space.readEvents(pod, reason), PATIENCE)
        .toContainEqual(expect.stringMatching(message));
    },
  );

  test('gives each pod an address of its own', async () => {
    const pods = await space.listPods('row');
    const addresses = pods.map((pod) => pod.status?.podIP);
    expect(addresses.every((address) => address?.startsWith('127.'))).toBe(true);
    expect(new Set(addresses).size).toBe(Object.keys(rows).length);
  });

  test('goes on when what a pod waits for appears', async () => {
    await space.create(space.path('configmaps'), { metadata: { name: 'late' }, data: { a: '1' } });
    await space.create(space.path('secrets'), { metadata: { name: 'late' }, stringData: { b: '2' } });
    await expect.poll(() => space.readPod('no-variable'), PATIENCE).toMatchObject(ready('Running', true));
    await expect.poll(() => space.readPod('no-volume'), PATIENCE).toMatchObject(ready('Running', true));
  });

  test('serves the logs of the present and of the previous run', async () => {
    const script =
      'test -f /s/x && { echo second; echo line; exec sleep 1000; }; touch /s/x; echo first; exit 1';
    const containers = [shell(script, { volumeMounts: [{ name: 's', mountPath: '/s' }] })];
    await space.createPod('logs', { containers, volumes: [{ name: 's', emptyDir: {} }] });
    await expect
      .poll(() => space.readPod('logs'), PATIENCE)
      .toMatchObject({ status: { containerStatuses: [{ restartCount: 1, ready: true }] } });
    expect(await space.readLog('logs')).toEqual(['second', 'line']);
    expect(await space.readLog('logs', 'tailLines=1')).toEqual(['line']);
    expect(await space.readLog('logs', 'previous=true')).toEqual(['first']);
  });

  test('follows a log until the container ends', async () => {
    await space.createPod('follow', {
      restartPolicy: 'Never',
      containers: [shell('echo a; sleep 1; echo b; sleep 1; echo c')],
    });
    await expect.poll(() => space.readPod('follow'), PATIENCE).toMatchObject(ready('Running', true));
    expect(await space.readLog('follow', 'follow=true')).toEqual(['a', 'b', 'c']);
  });
});
