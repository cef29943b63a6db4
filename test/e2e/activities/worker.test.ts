import { randomUUID } from 'node:crypto';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useStack, type StackHandle } from '../../../deploy/local/testing.ts';
import { openStage, until, type KubernetesStage } from '../../conformance/kubernetes/stage.ts';
import { TcpProxy } from '../../conformance/starter/tcp-proxy.ts';
import { WorkerHandle } from './worker-handle.ts';
import type { Call, callActivity } from './workflows.ts';

let stack: StackHandle;
let kubernetes: KubernetesStage;
let connection: Connection;
let namespace: string;
beforeAll(async () => {
  stack = await useStack();
  kubernetes = await openStage();
  connection = await Connection.connect({ address: stack.temporalAddress });
  namespace = await stack.createTemporalNamespace('worker');
});
afterAll(async () => {
  await connection.close();
  await kubernetes.close();
});

const queue = (): string => `queue-${randomUUID().slice(0, 8)}`;
const start = (taskQueue: string, env: Readonly<Record<string, string>> = {}): WorkerHandle =>
  new WorkerHandle({
    KUBECONFIG: stack.kubeconfig('admin'),
    TEMPORAL_ADDRESS: stack.temporalAddress,
    TEMPORAL_NAMESPACE: namespace,
    KEELSON_TASK_QUEUE: taskQueue,
    KEELSON_STICKY_MS: '200',
    KEELSON_HEARTBEAT_EVERY_MS: '200',
    ...env,
  });
const call = (taskQueue: string, input: Partial<Call>): Promise<WorkflowHandle<typeof callActivity>> =>
  new Client({ connection, namespace }).workflow.start<typeof callActivity>('callActivity', {
    taskQueue,
    workflowId: randomUUID(),
    workflowTaskTimeout: '2s',
    args: [{ activity: '', input: null, startToCloseMs: 60_000, heartbeatMs: 1_000, ...input }],
  });
const podsThatNeverCome = () => ({
  activity: 'awaitKubernetesPods',
  input: { namespace: kubernetes.namespace, selector: 'group=never', count: 1 },
});
const pendingActivity = async (handle: WorkflowHandle) =>
  (await handle.describe()).raw.pendingActivities?.[0];

describe('a worker', () => {
  test('is ready once it takes work, and serves its metrics beside those of Temporal', async () => {
    await using worker = start(queue());
    await worker.awaitLine('ready for work');
    await until(async () => ((await worker.get('/readyz')).status === 200 ? true : null));
    expect(await worker.get('/livez')).toEqual({ status: 200, text: 'ok\n' });
    const { text } = await worker.get('/metrics');
    for (const name of [
      'keelson_operations_total',
      'keelson_step_seconds',
      'keelson_wait_seconds',
      'keelson_guard_blocks_total',
    ])
      expect(text).toContain(`# TYPE ${name}`);
    expect(text).toMatch(/^temporal_worker_task_slots_available/m);
    expect((await worker.get('/elsewhere')).status).toBe(404);
  });

  test('says that Temporal is away, stays alive, and is ready as soon as it is back', async () => {
    const [host = '', port = ''] = stack.temporalAddress.split(':');
    await using wire = await TcpProxy.to(host, Number(port));
    await wire.cut();
    await using worker = start(queue(), { TEMPORAL_ADDRESS: `127.0.0.1:${wire.port}` });
    await worker.awaitLine('does not answer');
    const ready = await worker.get('/readyz');
    expect(ready.status).toBe(503);
    expect(ready.text).toContain(`Temporal at 127.0.0.1:${wire.port} does not answer`);
    expect((await worker.get('/livez')).status).toBe(200);
    await wire.mend();
    await worker.awaitLine('ready for work');
    worker.signal('SIGTERM');
    expect(await worker.exit()).toBe(0);
  });

  test('waits for search attributes, with the command that registers them', async () => {
    const bare = `bare-${randomUUID().slice(0, 8)}`;
    await connection.workflowService.registerNamespace({
      namespace: bare,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as unknown as never },
    });
    await using worker = start(queue(), { TEMPORAL_NAMESPACE: bare });
    const { msg } = await worker.awaitLine('search attributes are missing');
    expect(msg).toMatch(/temporal operator search-attribute create .*--name KeelsonKind --type Keyword/);
    expect((await worker.get('/readyz')).text).toContain('KeelsonPhase');
  });

  test('tells the progress of a wait, and ends it when it is cancelled', async () => {
    const taskQueue = queue();
    await using worker = start(taskQueue);
    const handle = await call(taskQueue, podsThatNeverCome());
    await worker.awaitRecord('began awaitKubernetesPods 1');
    const details = await until(async () => {
      const payload = (await pendingActivity(handle))?.heartbeatDetails?.payloads?.[0]?.data;
      const text = Buffer.from(payload ?? []).toString();
      return text === '' ? null : text;
    });
    expect(details).toBe('"0 of 1 pods are Ready"');
    await handle.cancel();
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    expect(worker.record).toContain('ended awaitKubernetesPods 1');
  });

  test('that is killed leaves its work to the next one', async () => {
    const taskQueue = queue();
    const first = start(taskQueue);
    const handle = await call(taskQueue, podsThatNeverCome());
    await first.awaitRecord('began awaitKubernetesPods 1');
    await first[Symbol.asyncDispose]();
    await using second = start(taskQueue);
    await second.awaitRecord('began awaitKubernetesPods 2');
    await handle.terminate();
  });

  test('ends at the first signal when its work is done or cut short, and at the second at once', async () => {
    const taskQueue = queue();
    await using patient = start(taskQueue, {
      KEELSON_SHUTDOWN_GRACE_MS: '100',
      KEELSON_SHUTDOWN_FORCE_MS: '60000',
    });
    const handle = await call(taskQueue, podsThatNeverCome());
    await patient.awaitRecord('began awaitKubernetesPods 1');
    patient.signal('SIGTERM');
    expect(await patient.exit()).toBe(0);
    expect(patient.record).toContain('ended awaitKubernetesPods 1');

    await using hasty = start(taskQueue, {
      KEELSON_SHUTDOWN_GRACE_MS: '60000',
      KEELSON_SHUTDOWN_FORCE_MS: '60000',
    });
    await until(async () => (hasty.record.some((line) => line.startsWith('began')) ? true : null));
    hasty.signal('SIGTERM');
    await hasty.awaitLine('stopping');
    hasty.signal('SIGTERM');
    expect(await hasty.exit()).toBe(1);
    await handle.terminate();
  });
});

describe('a worker that was frozen', () => {
  const configMap = (name: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    namespace: kubernetes.namespace,
    name,
  });
  async function createOwner(name: string) {
    const metadata = { name, namespace: kubernetes.namespace };
    const owner = await kubernetes.client.create(configMap(name), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
    });
    return { ...configMap(name), uid: owner.metadata.uid };
  }
  const applyOne = (owner: object, name: string) => ({
    activity: 'applyKubernetesObjects',
    input: {
      owner,
      manager: 'keelson',
      objects: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: kubernetes.namespace } }],
      known: {},
    },
  });

  test('changes nothing when it wakes in the middle of an attempt that another one has taken over', async () => {
    const taskQueue = queue();
    const owner = await createOwner('frozen-owner');
    await using frozen = start(taskQueue);
    await frozen.awaitLine('ready for work');
    frozen.hold();
    const handle = await call(taskQueue, applyOne(owner, 'made-once'));
    await frozen.awaitRecord('before apply');
    frozen.signal('SIGSTOP');

    await using other = start(taskQueue);
    await handle.result();
    expect(other.record).toContain('after apply');
    const made = await kubernetes.client.read(configMap('made-once'));
    await kubernetes.client.delete(configMap('made-once'), {
      uid: made?.metadata.uid ?? '',
      foreground: false,
    });

    frozen.release();
    frozen.signal('SIGCONT');
    await frozen.awaitRecord('ended applyKubernetesObjects 1');
    expect(frozen.record).not.toContain('after apply');
    expect(await kubernetes.client.read(configMap('made-once'))).toBeNull();
  });

  test('does not begin attempts that were handed to it while it stood still', async () => {
    const taskQueue = queue();
    const owner = await createOwner('still-owner');
    await using frozen = start(taskQueue);
    await frozen.awaitLine('ready for work');
    await (await call(taskQueue, applyOne(owner, 'warm-up'))).result();
    const before = frozen.record.length;
    frozen.signal('SIGSTOP');
    const handle = await call(taskQueue, applyOne(owner, 'made-by-the-other'));
    await using other = start(taskQueue);
    await handle.result();
    expect(other.record).toContain('after apply');
    frozen.signal('SIGCONT');
    await (await call(taskQueue, applyOne(owner, 'made-afterwards'))).result();
    const stale = frozen.record.slice(before).filter((line) => line.startsWith('before'));
    const fresh = other.record.filter((line) => line.startsWith('after')).length;
    // What the frozen one changed, if anything, is the last call, which the other one then did not do.
    expect(stale.length + fresh).toBe(2);
  });
});
