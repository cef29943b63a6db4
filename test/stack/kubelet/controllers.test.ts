import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Pod } from '../../../deploy/local/kubelet/api/objects.ts';
import { useStack } from '../../../deploy/local/testing.ts';
import type { NamespaceHandle } from '../../../deploy/local/testing.ts';
import { LONG_PATIENCE, PATIENCE, TestNamespace, UNTIL_STOPPED, isReady, shell } from './cluster.ts';
import { cordon, createDeployment, createStatefulSet } from './workloads.ts';

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

/** The API server keeps whole seconds, so what follows at once may carry the same one. */
const createdAt = (pod: Pod | undefined): number => Date.parse(pod?.metadata.creationTimestamp ?? '');
const readySince = (pod: Pod | undefined): number =>
  Date.parse(pod?.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? '');

const probe = { readinessProbe: { exec: { command: ['true'] }, periodSeconds: 1 } };

describe('the controllers of Kubernetes', () => {
  test('roll a Deployment out without ever having fewer pods ready than allowed', async () => {
    await createDeployment(space, 'web', 4, { containers: [shell(UNTIL_STOPPED, probe)] });
    await expect.poll(() => space.countPods('app=web'), PATIENCE).toEqual({ ready: 4, all: 4 });
    const before = await space.listPods('app=web');
    const containers = [{ name: 'main', env: [{ name: 'VERSION', value: '2' }] }];
    await space.patch(space.appsPath('deployments', 'web'), { spec: { template: { spec: { containers } } } });
    let fewest = 4;
    await expect
      .poll(async () => {
        const pods = await space.listPods('app=web');
        const { ready } = await space.countPods('app=web');
        fewest = Math.min(fewest, ready);
        const uids = new Set(before.map((pod) => pod.metadata.uid));
        return { old: pods.filter((pod) => uids.has(pod.metadata.uid)).length, ready };
      }, PATIENCE)
      .toEqual({ old: 0, ready: 4 });
    expect(fewest).toBeGreaterThanOrEqual(3);
  });

  test('roll a StatefulSet out from the last pod to the first, with new addresses and the same data', async () => {
    const script = `echo "$VERSION" >> /data/seen; ${UNTIL_STOPPED}`;
    const env = [{ name: 'VERSION', value: '1' }];
    await createStatefulSet(space, 'db', 3, shell(script, { ...probe, env }));
    await expect.poll(() => space.countPods('app=db'), PATIENCE).toEqual({ ready: 3, all: 3 });
    const before = await space.listPods('app=db');
    const containers = [{ name: 'main', env: [{ name: 'VERSION', value: '2' }] }];
    await space.patch(space.appsPath('statefulsets', 'db'), { spec: { template: { spec: { containers } } } });
    const oldUids = new Set(before.map((pod) => pod.metadata.uid));
    await expect
      .poll(async () => {
        const fresh = (await space.listPods('app=db')).filter((pod) => !oldUids.has(pod.metadata.uid));
        return fresh.filter(isReady).length;
      }, PATIENCE)
      .toBe(3);
    const after = await space.listPods('app=db');
    const [first, second, third] = after;
    expect(after.map((pod) => pod.metadata.name)).toEqual(['db-0', 'db-1', 'db-2']);
    expect(createdAt(second)).toBeGreaterThanOrEqual(readySince(third));
    expect(createdAt(first)).toBeGreaterThanOrEqual(readySince(second));
    const oldAddresses = new Set(before.map((pod) => pod.status?.podIP));
    expect(after.filter((pod) => oldAddresses.has(pod.status?.podIP))).toEqual([]);
    await space.createPod('reader', {
      restartPolicy: 'Never',
      containers: [
        shell('cat /data/seen > /dev/termination-log', {
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        }),
      ],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-db-1', readOnly: true } }],
    });
    await expect
      .poll(() => space.readPod('reader'), PATIENCE)
      .toMatchObject({
        status: { containerStatuses: [{ state: { terminated: { message: '1\n2\n' } } }] },
      });
  });

  test('run a Job to its end', async () => {
    const template = { spec: { restartPolicy: 'Never', containers: [shell('sleep 0.2')] } };
    const jobs = `/apis/batch/v1/namespaces/${space.name}/jobs`;
    await space.create(jobs, {
      metadata: { name: 'job' },
      spec: { completions: 3, parallelism: 2, template },
    });
    await expect
      .poll(() => space.api.read(`${jobs}/job`), PATIENCE)
      .toMatchObject({
        status: {
          succeeded: 3,
          conditions: expect.arrayContaining([expect.objectContaining({ type: 'Complete' })]),
        },
      });
  });

  test('drain a cordoned node by eviction, as far as a disruption budget allows', async () => {
    const labels = { app: 'guarded' };
    await space.create(`/apis/policy/v1/namespaces/${space.name}/poddisruptionbudgets`, {
      metadata: { name: 'guarded' },
      spec: { minAvailable: 2, selector: { matchLabels: labels } },
    });
    await createDeployment(space, 'guarded', 2, { containers: [shell(UNTIL_STOPPED, probe)] });
    await expect.poll(() => space.countPods('app=guarded'), PATIENCE).toEqual({ ready: 2, all: 2 });
    const [victim] = await space.listPods('app=guarded');
    const node = victim?.spec.nodeName ?? '';
    await cordon(space, node, true);
    try {
      expect(await space.evict(victim?.metadata.name ?? '')).toBe(false);
      await space.patch(space.appsPath('deployments', 'guarded'), { spec: { replicas: 3 } });
      await expect.poll(() => space.countPods('app=guarded'), PATIENCE).toEqual({ ready: 3, all: 3 });
      await expect.poll(() => space.evict(victim?.metadata.name ?? ''), PATIENCE).toBe(true);
      await expect
        .poll(async () => {
          const pods = await space.listPods('app=guarded');
          return {
            ...(await space.countPods('app=guarded')),
            here: pods.filter((pod) => pod.spec.nodeName === node).length,
          };
        }, PATIENCE)
        .toEqual({ ready: 3, all: 3, here: 0 });
    } finally {
      await cordon(space, node, false);
    }
  });

  test('run a hundred pods at once, each with an address of its own', async () => {
    const seldom = { readinessProbe: { exec: { command: ['true'] }, periodSeconds: 30 } };
    await createDeployment(space, 'many', 100, { containers: [shell(UNTIL_STOPPED, seldom)] });
    await expect.poll(() => space.countPods('app=many'), LONG_PATIENCE).toEqual({ ready: 100, all: 100 });
    const addresses = (await space.listPods('app=many')).map((pod) => pod.status?.podIP);
    expect(new Set(addresses).size).toBe(100);
    await space.api.send('DELETE', space.appsPath('deployments', 'many'), {
      propagationPolicy: 'Background',
    });
    await expect.poll(() => space.countPods('app=many'), LONG_PATIENCE).toEqual({ ready: 0, all: 0 });
  });
});
