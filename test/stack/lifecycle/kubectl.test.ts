import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Redis } from 'iovalkey';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import type { NamespaceHandle, StackHandle } from '../../../deploy/local/testing.ts';
import { kubectlProgram } from '../kubectl-program.ts';
import { valkeyStatefulSet } from '../valkey-stateful-set.ts';

const run = promisify(execFile);
const POLL = { timeout: 60_000, interval: 200 };
let stack: StackHandle;
let namespace: NamespaceHandle;

beforeAll(async () => {
  stack = await useStack();
  namespace = await stack.createNamespace('kubectl');
});

afterAll(async () => {
  await namespace.remove();
});

test('keeps the data of a pod that is deleted, under a new address', async () => {
  await apply(valkeyStatefulSet('cache', 2));
  await kubectl('rollout', 'status', 'statefulset/cache', '--timeout=60s');
  const before = await readPod('cache-0');
  expect(await valkey('cache-0', 'SET', 'greeting', 'hello')).toBe('OK');
  await kubectl('delete', 'pod', 'cache-0', '--timeout=60s');
  await expect.poll(() => readPodIfReady('cache-0', before.uid), POLL).toBeDefined();
  const after = await readPod('cache-0');
  expect(after.ip).not.toBe(before.ip);
  expect(await valkey('cache-0', 'GET', 'greeting')).toBe('hello');
});

test('moves the pods of a drained node to another one, with their data', async () => {
  const { node, uid } = await readPod('cache-0');
  try {
    // The node may run pods of other tests, which are none of this one's business.
    await kubectl('drain', node, '--pod-selector=app=cache', '--timeout=90s');
    await expect.poll(() => readPodIfReady('cache-0', uid), POLL).toBeDefined();
    expect((await readPod('cache-0')).node).not.toBe(node);
    expect(await valkey('cache-0', 'GET', 'greeting')).toBe('hello');
  } finally {
    await kubectl('uncordon', node);
  }
});

test('finds nothing to object to in the manifests for a cluster', async () => {
  const manifests = fileURLToPath(new URL('../../../deploy/kustomize/cluster', import.meta.url));
  const options = ['--kubeconfig', stack.kubeconfig('admin'), '--dry-run=server', '-o', 'name'];
  const { stdout } = await run(await kubectlProgram(), ['apply', ...options, '-k', manifests]);
  expect(stdout.split('\n')).toEqual(
    expect.arrayContaining(['deployment.apps/keelson-worker', 'deployment.apps/keelson-starter']),
  );
});

interface PodFacts {
  readonly uid: string;
  readonly ip: string;
  readonly node: string;
  readonly ready: boolean;
}

async function readPod(name: string): Promise<PodFacts> {
  const pod = JSON.parse(await kubectl('get', 'pod', name, '-o', 'json')) as {
    metadata: { uid: string };
    spec: { nodeName?: string };
    status: { podIP?: string; conditions?: { type: string; status: string }[] };
  };
  const ready =
    pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  return { uid: pod.metadata.uid, ip: pod.status.podIP ?? '', node: pod.spec.nodeName ?? '', ready };
}

/** The pod that has taken the place of another one, once it serves. */
async function readPodIfReady(name: string, replaced: string): Promise<PodFacts | undefined> {
  try {
    const pod = await readPod(name);
    return pod.ready && pod.uid !== replaced ? pod : undefined;
  } catch (error) {
    if (String(error).includes('NotFound')) return undefined;
    throw error;
  }
}

/** One command to the server of a pod, at the address that the pod has now. */
async function valkey(pod: string, ...[name = '', ...words]: string[]): Promise<unknown> {
  const client = new Redis({ host: (await readPod(pod)).ip, port: 6379, lazyConnect: true });
  await client.connect();
  const answer = await client.call(name, ...words);
  await client.quit();
  return answer;
}

async function apply(object: unknown): Promise<void> {
  const child = run(await kubectlProgram(), args('apply', '-f', '-'));
  child.child.stdin?.end(JSON.stringify(object));
  await child;
}

async function kubectl(...words: string[]): Promise<string> {
  const { stdout } = await run(await kubectlProgram(), args(...words), { timeout: 120_000 });
  return stdout;
}

function args(...words: string[]): string[] {
  return ['--kubeconfig', stack.kubeconfig('admin'), '--namespace', namespace.name, ...words];
}
