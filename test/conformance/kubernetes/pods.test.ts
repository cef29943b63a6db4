import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKubernetesActivities } from '../../../activities/kubernetes/activities.ts';
import { createKubernetesClient } from '../../../activities/kubernetes/client.ts';
import type { KubernetesActivities } from '../../../activities/kubernetes/contract.ts';
import { runAttempt } from '../attempt.ts';
import { TcpProxy } from '../starter/tcp-proxy.ts';
import { openStage, readKubeConfig, type KubernetesStage } from './stage.ts';

/**
 * Nobody schedules for this one, so that the test alone says what becomes of its pods: those on a node that does not
 * exist would be collected as garbage.
 */
const SCHEDULER = 'conformance-nobody';

let stage: KubernetesStage;
let activities: KubernetesActivities;
beforeAll(async () => {
  stage = await openStage();
  activities = createKubernetesActivities(stage.client);
});
afterAll(() => stage.close());

const podName = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', namespace: stage.namespace, name });
const createPod = (group: string, name: string) =>
  stage.client.create(podName(name), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: stage.namespace, labels: { group } },
    spec: {
      schedulerName: SCHEDULER,
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'c', image: 'none' }],
    },
  });
const setStatus = (name: string, status: object) =>
  stage.client.patch(podName(name), {
    type: 'merge',
    manager: 'kubelet',
    subresource: 'status',
    body: { status },
  });
const setReady = (name: string) =>
  setStatus(name, { phase: 'Running', podIP: '10.1.2.3', conditions: [{ type: 'Ready', status: 'True' }] });
const awaitPods = (group: string, count: number, by: KubernetesActivities = activities) =>
  runAttempt(() => by.awaitKubernetesPods({ namespace: stage.namespace, selector: `group=${group}`, count }));

describe('waiting for pods', () => {
  test('ends with the last of them, and tells on the way how many are ready', async () => {
    const waiting = awaitPods('two', 2);
    await waiting.hear('0 of 2 pods are Ready');
    await createPod('two', 'two-0');
    await createPod('two', 'two-1');
    await setReady('two-0');
    await waiting.hear('1 of 2 pods are Ready');
    await setReady('two-1');
    expect(await waiting.result).toMatchObject([
      { name: 'two-0', ip: '10.1.2.3', node: null, ready: true, waiting: null },
      { name: 'two-1', ready: true },
    ]);
  });

  test('ends at once when they are ready already', async () => {
    await createPod('one', 'one-0');
    await setReady('one-0');
    const waiting = awaitPods('one', 1);
    expect(await waiting.result).toHaveLength(1);
    expect(waiting.said).toEqual([]);
  });

  test('ends earlier where pods that run are enough', async () => {
    await createPod('run', 'run-0');
    const running = runAttempt(() =>
      activities.awaitKubernetesPods({
        namespace: stage.namespace,
        selector: 'group=run',
        count: 1,
        until: 'Running',
      }),
    );
    await running.hear('0 of 1 pods are Ready');
    await setStatus('run-0', { phase: 'Running', podIP: '10.1.2.3' });
    expect(await running.result).toMatchObject([{ name: 'run-0', ip: '10.1.2.3', ready: false }]);
  });

  test('says in the words of the kubelet what holds a pod', async () => {
    await createPod('held', 'held-0');
    const waiting = awaitPods('held', 1);
    await setStatus('held-0', {
      containerStatuses: [
        {
          name: 'c',
          image: 'none',
          imageID: '',
          ready: false,
          restartCount: 0,
          state: { waiting: { reason: 'ErrImagePull', message: 'no such image' } },
        },
      ],
    });
    await waiting.hear('0 of 1 pods are Ready; held-0: ErrImagePull: no such image');
    waiting.cancel();
    await expect(waiting.result).rejects.toMatchObject({ name: 'CancelledFailure' });
  });

  test('does not count more than wanted as done', async () => {
    await createPod('many', 'many-0');
    const surplus = await createPod('many', 'many-1');
    await setReady('many-0');
    await setReady('many-1');
    const waiting = awaitPods('many', 1);
    await waiting.hear('1 more than wanted are still there');
    await stage.client.delete(podName('many-1'), {
      uid: surplus.metadata.uid,
      foreground: false,
      gracePeriodSeconds: 0,
    });
    expect(await waiting.result).toHaveLength(1);
  });

  test('goes on when the watch falls silent without closing', async () => {
    const config = await readKubeConfig();
    const server = new URL(config.getCurrentCluster()?.server ?? '');
    await using wire = await TcpProxy.to(server.hostname, Number(server.port));
    const wired = new KubeConfig();
    wired.loadFromClusterAndUser(
      { name: 'wire', server: `https://127.0.0.1:${wire.port}`, skipTLSVerify: true },
      config.getCurrentUser() ?? { name: 'nobody' },
    );
    const client = createKubernetesClient(wired, { requestTimeoutMs: 1_000, watchSeconds: 1 });
    const waiting = awaitPods('silent', 1, createKubernetesActivities(client));
    await waiting.hear('0 of 1 pods are Ready');
    wire.freeze();
    await createPod('silent', 'silent-0');
    await setReady('silent-0');
    expect(await waiting.result).toHaveLength(1);
  });
});
