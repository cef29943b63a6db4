import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openHome, pathOf } from '../../../deploy/local/home.ts';
import type { Container, PodSpec } from '../../../deploy/local/kubelet/api/objects.ts';
import { killNode, loseNode, restoreNode } from '../../../deploy/local/kubelet/control.ts';
import { startTestStack } from '../../../deploy/local/testing.ts';
import { PATIENCE, TestNamespace, UNTIL_STOPPED, shell, waits } from './cluster.ts';
import { readNodeReadiness } from './workloads.ts';

/** These tests take nodes away, so that they have a stack of their own. */
const PARTS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'nodes'];

let stack: Awaited<ReturnType<typeof startTestStack>>;
let space: TestNamespace;
let stateDir: string;
let beacons: string;

beforeAll(async () => {
  beacons = mkdtempSync(join(tmpdir(), 'kubelet-'));
  stack = await startTestStack({ onlyParts: PARTS });
  const { name } = await stack.createNamespace('kubelet');
  space = new TestNamespace(stack.kubeconfig('admin'), name);
  stateDir = pathOf.data(openHome(stack.home), 'nodes');
});

afterAll(async () => {
  space.api.close();
  await stack.stop();
  rmSync(beacons, { recursive: true, force: true });
});

/** A pod on a node that writes the time to a file, so that a test sees whether it runs whatever the API says. */
async function createBeacon(
  name: string,
  node: string,
  more: Partial<Container> = {},
  spec: object = {},
): Promise<void> {
  const script = `trap 'exit 0' TERM; while :; do date +%s%N > /beacons/${name}; sleep 0.1; done`;
  const volumeMounts = [{ name: 'beacons', mountPath: '/beacons' }];
  await space.createPod(name, {
    nodeName: node,
    containers: [shell(script, { volumeMounts, ...more })],
    volumes: [{ name: 'beacons', hostPath: { path: beacons } }],
    ...spec,
  });
  await expect.poll(() => space.readPod(name), PATIENCE).toMatchObject({ status: { phase: 'Running' } });
}

/** Whether a beacon shines, seen for longer than it takes between two flashes. */
async function shines(name: string): Promise<boolean> {
  const read = (): string => readFileSync(join(beacons, name), 'utf8');
  const before = read();
  await new Promise((resolve) => setTimeout(resolve, 500));
  return read() !== before;
}

/** Stays on its node whatever happens to the node. */
const steadfast: Partial<PodSpec> & { tolerations: readonly object[] } = {
  tolerations: [{ operator: 'Exists' }],
};

describe('a node that is lost', () => {
  test('is noticed in seconds, and its containers run on', async () => {
    await createBeacon('lonely', 'node-a1');
    await createBeacon('forgotten', 'node-a1', {}, steadfast);
    await loseNode(stateDir, 'node-a1');
    await expect.poll(() => readNodeReadiness(space, 'node-a1'), PATIENCE).toBe('Unknown');
    await expect
      .poll(() => space.readPod('lonely'), PATIENCE)
      .toMatchObject({ metadata: { deletionTimestamp: expect.any(String) } });
    expect([await shines('lonely'), await shines('forgotten')]).toEqual([true, true]);
  });

  test('stops on its return what was deleted meanwhile, by force or not', async () => {
    await space.deletePod('forgotten', { gracePeriodSeconds: 0 });
    await expect.poll(() => space.readPod('forgotten'), PATIENCE).toBeUndefined();
    await createBeacon('elsewhere', 'node-b1');
    expect(await shines('forgotten')).toBe(true);
    await restoreNode(stateDir, 'node-a1');
    await expect.poll(() => readNodeReadiness(space, 'node-a1'), PATIENCE).toBe('True');
    await expect.poll(() => space.readPod('lonely'), PATIENCE).toBeUndefined();
    await expect.poll(() => shines('forgotten'), PATIENCE).toBe(false);
    expect([await shines('lonely'), await shines('elsewhere')]).toEqual([false, true]);
  });

  test('tells again that its pods are ready', async () => {
    await createBeacon('constant', 'node-a2', {}, steadfast);
    const ready = (status: string) => ({
      status: { conditions: expect.arrayContaining([expect.objectContaining({ type: 'Ready', status })]) },
    });
    await loseNode(stateDir, 'node-a2');
    await expect.poll(() => space.readPod('constant'), PATIENCE).toMatchObject(ready('False'));
    await restoreNode(stateDir, 'node-a2');
    await expect
      .poll(() => space.readPod('constant'), PATIENCE)
      .toMatchObject({
        ...ready('True'),
        status: { containerStatuses: [{ restartCount: 0 }] },
      });
  });
});

describe('a node that is killed', () => {
  test('takes its containers with it, and starts them anew with new addresses when it is back', async () => {
    const init = {
      initContainers: [
        shell('date +%s%N >> /beacons/inits', {
          name: 'init',
          volumeMounts: [{ name: 'beacons', mountPath: '/beacons' }],
        }),
      ],
    };
    await createBeacon('phoenix', 'node-b2', {}, { ...steadfast, ...init });
    const before = await space.readPod('phoenix');
    await killNode(stateDir, 'node-b2');
    expect(await shines('phoenix')).toBe(false);
    await expect.poll(() => readNodeReadiness(space, 'node-b2'), PATIENCE).toBe('Unknown');
    await restoreNode(stateDir, 'node-b2');
    await expect
      .poll(() => space.readPod('phoenix'), PATIENCE)
      .toMatchObject({
        metadata: { uid: before?.metadata.uid },
        status: {
          phase: 'Running',
          containerStatuses: [{ ready: true, restartCount: 1, lastState: { terminated: { exitCode: 255 } } }],
        },
      });
    const after = await space.readPod('phoenix');
    expect(after?.status?.podIP).not.toBe(before?.status?.podIP);
    expect(after?.status?.podIPs).toEqual([{ ip: after?.status?.podIP }]);
    expect(await shines('phoenix')).toBe(true);
    expect(readFileSync(join(beacons, 'inits'), 'utf8').trim().split('\n')).toHaveLength(2);
  });
});

describe('the node process', () => {
  test('takes its containers over after a crash, unharmed', async () => {
    await createBeacon('survivor', 'node-c1', {
      readinessProbe: { exec: { command: ['true'] }, periodSeconds: 1 },
    });
    await expect
      .poll(() => space.readPod('survivor'), PATIENCE)
      .toMatchObject({ status: { containerStatuses: [{ ready: true }] } });
    const before = await space.readPod('survivor');
    const nodes = stack.part('nodes');
    const crashed = nodes.process();
    await nodes.kill();
    expect(await shines('survivor')).toBe(true);
    await nodes.awaitReady(crashed);
    const after = await space.readPod('survivor');
    expect(after?.status).toEqual(before?.status);
    await space.deletePod('survivor');
    await expect.poll(() => space.readPod('survivor'), PATIENCE).toBeUndefined();
    expect(await shines('survivor')).toBe(false);
  });

  test('knows how a container ended that ended while nobody looked', async () => {
    const script = 'until test -f /beacons/go; do sleep 0.05; done; exit 42';
    const volumeMounts = [{ name: 'beacons', mountPath: '/beacons' }];
    await space.createPod('unseen', {
      nodeName: 'node-c1',
      restartPolicy: 'Never',
      containers: [shell(script, { volumeMounts })],
      volumes: [{ name: 'beacons', hostPath: { path: beacons } }],
    });
    await expect
      .poll(() => space.readPod('unseen'), PATIENCE)
      .toMatchObject({ status: { phase: 'Running' } });
    const crashed = stack.part('nodes').process();
    await stack.part('nodes').kill();
    writeFileSync(join(beacons, 'go'), '');
    await stack.part('nodes').awaitReady(crashed);
    await expect
      .poll(() => space.readPod('unseen'), PATIENCE)
      .toMatchObject({
        status: { phase: 'Failed', containerStatuses: [{ state: { terminated: { exitCode: 42 } } }] },
      });
  });

  test('goes on when the API server was away', async () => {
    await createBeacon('calm', 'node-c1');
    const server = stack.part('kube-apiserver');
    const ended = server.process();
    await server.kill();
    expect(await shines('calm')).toBe(true);
    await server.awaitReady(ended);
    await createBeacon('after', 'node-c1');
    expect(await space.readPod('calm')).toMatchObject({
      status: { containerStatuses: [{ restartCount: 0, ready: true }] },
    });
    await space.deletePod('calm');
    await expect.poll(() => space.readPod('calm'), PATIENCE).toBeUndefined();
  });

  test('stops all containers when it is told to end, and starts them again afterwards', async () => {
    await createBeacon('tidy', 'node-c1');
    const ended = stack.part('nodes').process();
    await stack.part('nodes').kill('SIGTERM');
    expect(await shines('tidy')).toBe(false);
    await stack.part('nodes').awaitReady(ended);
    await expect
      .poll(() => space.readPod('tidy'), PATIENCE)
      .toMatchObject({
        status: {
          phase: 'Running',
          containerStatuses: [{ restartCount: 1, ready: true, lastState: { terminated: { exitCode: 0 } } }],
        },
      });
  });

  test('takes an image that appears in the catalogue', async () => {
    await space.createPod('early', { containers: [{ ...shell(UNTIL_STOPPED), image: 'late/image:1' }] });
    await expect.poll(() => space.readPod('early'), PATIENCE).toMatchObject(waits('ImagePullBackOff'));
    const file = pathOf.images(openHome(stack.home));
    const catalogue = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...catalogue, 'late/image:1': {} }));
    await expect.poll(() => space.readPod('early'), PATIENCE).toMatchObject({ status: { phase: 'Running' } });
  });

  test('waits for a claim that does not exist yet, and goes on when it is bound', async () => {
    const path = join(beacons, 'volume');
    mkdirSync(path);
    const containers = [shell(UNTIL_STOPPED, { volumeMounts: [{ name: 'v', mountPath: '/v' }] })];
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'late' } }];
    await space.createPod('patient', { nodeName: 'node-c1', containers, volumes });
    await expect
      .poll(() => space.readEvents('patient', 'FailedMount'), PATIENCE)
      .toContainEqual(expect.stringContaining('persistentvolumeclaim "late" not found'));
    const spec = { accessModes: ['ReadWriteOnce'], storageClassName: '' };
    const claimRef = { namespace: space.name, name: 'late' };
    const capacity = { storage: '1Mi' };
    await space.create('/api/v1/persistentvolumes', {
      metadata: { name: 'late' },
      spec: { ...spec, capacity, claimRef, hostPath: { path } },
    });
    await space.create(space.path('persistentvolumeclaims'), {
      metadata: { name: 'late' },
      spec: { ...spec, volumeName: 'late', resources: { requests: capacity } },
    });
    await expect
      .poll(() => space.readPod('patient'), PATIENCE)
      .toMatchObject({ status: { phase: 'Running' } });
  });
});
