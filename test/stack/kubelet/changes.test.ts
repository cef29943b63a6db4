import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import type { NamespaceHandle } from '../../../deploy/local/testing.ts';
import { PATIENCE, TestNamespace, UNTIL_STOPPED, isReady, shell, terminated } from './cluster.ts';

/** An object with a finalizer outlives its deletion, so that its last status can be read. */
const KEPT = { finalizers: ['keelson.local/test'] };

let handle: NamespaceHandle;
let space: TestNamespace;

beforeAll(async () => {
  const stack = await useStack();
  handle = await stack.createNamespace('kubelet');
  space = new TestNamespace(stack.kubeconfig('admin'), handle.name);
});

afterAll(async () => {
  await handle.remove();
  space.api.close();
});

function letGo(pod: string): Promise<void> {
  const finalizers = { '$deleteFromPrimitiveList/finalizers': KEPT.finalizers };
  return space.patch(space.path('pods', pod), { metadata: finalizers });
}

describe('a pod that is deleted', () => {
  test('is told to stop, and its last status says how it ended', async () => {
    await space.createPod(
      'polite',
      { containers: [shell("trap 'exit 7' TERM; while :; do sleep 1 & wait $!; done")] },
      KEPT,
    );
    await expect
      .poll(() => space.readPod('polite'), PATIENCE)
      .toMatchObject({ status: { phase: 'Running' } });
    await space.deletePod('polite');
    await expect
      .poll(() => space.readPod('polite'), PATIENCE)
      .toMatchObject({ status: { phase: 'Failed' }, ...terminated({ exitCode: 7 }) });
    await letGo('polite');
  });

  test('is killed when its grace period is over', async () => {
    await space.createPod(
      'deaf',
      { terminationGracePeriodSeconds: 2, containers: [shell("trap '' TERM; sleep 1000")] },
      KEPT,
    );
    await expect.poll(() => space.readPod('deaf'), PATIENCE).toMatchObject({ status: { phase: 'Running' } });
    await space.deletePod('deaf');
    await expect.poll(() => space.readPod('deaf'), PATIENCE).toMatchObject(terminated({ exitCode: 137 }));
    const status = (await space.readPod('deaf'))?.status;
    expect(status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('False');
    await letGo('deaf');
  });

  test('runs its preStop hook before the signal', async () => {
    const script =
      "trap 'cat /tmp/said > /dev/termination-log; exit 0' TERM; while :; do sleep 1 & wait $!; done";
    const preStop = { exec: { command: ['sh', '-c', 'sleep 0.3; echo "hook was here" > /tmp/said'] } };
    await space.createPod('hook', { containers: [shell(script, { lifecycle: { preStop } })] }, KEPT);
    await expect.poll(() => space.readPod('hook'), PATIENCE).toMatchObject({ status: { phase: 'Running' } });
    await space.deletePod('hook');
    await expect
      .poll(() => space.readPod('hook'), PATIENCE)
      .toMatchObject(terminated({ exitCode: 0, message: 'hook was here\n' }));
    await letGo('hook');
  });

  test('obeys a second deletion that leaves less time', async () => {
    await space.createPod('hurry', {
      terminationGracePeriodSeconds: 300,
      containers: [shell("trap '' TERM; sleep 1000")],
    });
    await expect.poll(() => space.readPod('hurry'), PATIENCE).toMatchObject({ status: { phase: 'Running' } });
    await space.deletePod('hurry');
    await space.deletePod('hurry', { gracePeriodSeconds: 1 });
    await expect.poll(() => space.readPod('hurry'), PATIENCE).toBeUndefined();
  });

  test('goes even if it never started', async () => {
    await space.createPod('stuck', { containers: [{ name: 'main', image: 'nobody/nothing:1' }] });
    await expect
      .poll(() => space.readPod('stuck'), PATIENCE)
      .toMatchObject({ status: { podIP: expect.stringMatching(/^127\./) } });
    await space.deletePod('stuck');
    await expect.poll(() => space.readPod('stuck'), PATIENCE).toBeUndefined();
  });

  test('leaves nothing running when it is deleted by force', async () => {
    const dead = `${handle.name}-beacon`;
    const script = `while :; do date +%s%N > /beacon/${dead}; sleep 0.1; done`;
    const beacon = { name: 'b', hostPath: { path: '/tmp', type: 'Directory' } };
    const reader = shell(
      `a=$(cat /beacon/${dead}); sleep 1; test "$a" = "$(cat /beacon/${dead})" && rm /beacon/${dead}`,
      {
        volumeMounts: [{ name: 'b', mountPath: '/beacon' }],
      },
    );
    const writer = { ...shell(script), volumeMounts: [{ name: 'b', mountPath: '/beacon' }] };
    await space.createPod('forced', { containers: [writer], volumes: [beacon] });
    await expect
      .poll(() => space.readPod('forced'), PATIENCE)
      .toMatchObject({ status: { phase: 'Running' } });
    await space.deletePod('forced', { gracePeriodSeconds: 0 });
    await expect.poll(() => space.readPod('forced'), PATIENCE).toBeUndefined();
    await space.createPod('reader', { restartPolicy: 'OnFailure', containers: [reader], volumes: [beacon] });
    await expect
      .poll(() => space.readPod('reader'), PATIENCE)
      .toMatchObject({ status: { phase: 'Succeeded' } });
  });
});

describe('a pod that lives on', () => {
  test('sees a ConfigMap volume change as a whole', async () => {
    await space.create(space.path('configmaps'), { metadata: { name: 'live' }, data: { a: '1', b: '1' } });
    const script =
      'until test "$(cat /live/a)" = 2; do sleep 0.1; done; cat /live/a /live/b > /dev/termination-log';
    const containers = [shell(script, { volumeMounts: [{ name: 'live', mountPath: '/live' }] })];
    const volumes = [{ name: 'live', configMap: { name: 'live' } }];
    await space.createPod('live', { restartPolicy: 'Never', containers, volumes });
    await expect.poll(() => space.readPod('live'), PATIENCE).toMatchObject({ status: { phase: 'Running' } });
    await space.patch(space.path('configmaps', 'live'), { data: { a: '2', b: '2' } });
    await expect
      .poll(() => space.readPod('live'), PATIENCE)
      .toMatchObject(terminated({ exitCode: 0, message: '22' }));
  });

  test('waits for a readiness gate that somebody else opens', async () => {
    await space.createPod('gated', {
      containers: [shell(UNTIL_STOPPED)],
      readinessGates: [{ conditionType: 'example.com/open' }],
    });
    await expect
      .poll(() => space.readPod('gated'), PATIENCE)
      .toMatchObject({
        status: { phase: 'Running', containerStatuses: [{ ready: true }] },
      });
    expect(isReady(await space.readPod('gated'))).toBe(false);
    const condition = { type: 'example.com/open', status: 'True' };
    await space.patch(`${space.path('pods', 'gated')}/status`, { status: { conditions: [condition] } });
    await expect.poll(async () => isReady(await space.readPod('gated')), PATIENCE).toBe(true);
  });

  test('restarts the container whose image is changed in place', async () => {
    await space.createPod('retagged', {
      containers: [shell(UNTIL_STOPPED, { image: 'valkey/valkey:9.1.2' })],
    });
    await expect
      .poll(() => space.readPod('retagged'), PATIENCE)
      .toMatchObject({ status: { phase: 'Running' } });
    const containers = [{ name: 'main', image: 'valkey/valkey:9.1.0' }];
    await space.patch(space.path('pods', 'retagged'), { spec: { containers } });
    await expect
      .poll(() => space.readPod('retagged'), PATIENCE)
      .toMatchObject({
        status: { containerStatuses: [{ restartCount: 1, ready: true, image: 'valkey/valkey:9.1.0' }] },
      });
  });
});
