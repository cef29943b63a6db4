import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKubernetesClient, type KubernetesClient } from '../../../activities/kubernetes/client.ts';
import type { CustomObject } from '../../../activities/kubernetes/objects.ts';
import { createSelfSignedCertificate } from '../../../deploy/local/kubelet/server/certificate.ts';
import { useStack, type NamespaceHandle, type StackHandle } from '../../../deploy/local/testing.ts';
import { valkeyNaming } from '../../../worker/activities.ts';
import { until } from '../../conformance/kubernetes/stage.ts';
import { readHistoryText } from '../../history-text.ts';

/** The image of the stack whose server speaks TLS. */
const TLS_TAG = '8.1.1-tls';

const password = randomBytes(24).toString('hex');
const { cert, key } = createSelfSignedCertificate('secret.test');
/** A line of the key that stands in no certificate. */
const keyLine = key.split('\n')[1] ?? '';
const SECRETS = [
  password,
  Buffer.from(password).toString('base64'),
  keyLine,
  Buffer.from(keyLine).toString('base64'),
];
const leaks = (text: string): boolean => SECRETS.some((secret) => text.includes(secret));

let stack: StackHandle;
let namespace: NamespaceHandle;
let client: KubernetesClient;
beforeAll(async () => {
  stack = await useStack();
  namespace = await stack.createNamespace('secrets');
  const config = new KubeConfig();
  config.loadFromFile(stack.kubeconfig('admin'));
  client = createKubernetesClient(config);
});
afterAll(() => namespace.remove());

const named = (apiVersion: string, kind: string, name: string) => ({
  apiVersion,
  kind,
  namespace: namespace.name,
  name,
});
const create = (apiVersion: string, kind: string, name: string, fields: object) =>
  client.create<CustomObject>(named(apiVersion, kind, name), {
    apiVersion,
    kind,
    metadata: { name, namespace: namespace.name },
    ...fields,
  });

/** The command lines of everything that runs, as anybody on the machine can read them. */
function readCommandLines(): string {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const lines = processes.map((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    } catch {
      return ''; // It has ended since the list was read.
    }
  });
  return lines.join('\n');
}

/** Everything that the histories of this namespace's workflows hold, payloads decoded. */
async function readHistories(): Promise<string> {
  const connection = await Connection.connect({ address: stack.temporalAddress });
  try {
    const { workflow } = new Client({ connection });
    const texts: string[] = [];
    for await (const found of workflow.list({ query: `KeelsonNamespace = "${namespace.name}"` })) {
      texts.push(await readHistoryText(workflow.getHandle(found.workflowId, found.runId)));
    }
    return texts.join('\n');
  } finally {
    await connection.close();
  }
}

test('a cluster with password and TLS forms and goes, and no secret stands in histories, logs or process lists', async () => {
  await create('v1', 'Secret', 'auth', { stringData: { password } });
  await create('v1', 'Secret', 'tls', { stringData: { 'tls.crt': cert, 'tls.key': key, 'ca.crt': cert } });
  const { apiVersion, kind } = valkeyNaming;
  const { metadata } = await create(apiVersion, kind, 'sealed', {
    spec: {
      masters: 3,
      replicasPerMaster: 1,
      image: { tag: TLS_TAG },
      auth: { secretRef: { name: 'auth' } },
      tls: { secretName: 'tls' },
      persistence: { enabled: false },
    },
  });
  const cluster = named(apiVersion, kind, 'sealed');
  let processes = '';
  const look = async (): Promise<CustomObject | null> => {
    const seen = readCommandLines();
    if (leaks(seen)) processes = seen;
    return client.read<CustomObject>(cluster);
  };
  await until(async () => ((await look())?.status?.['phase'] === 'Running' ? true : null));
  await client.delete(cluster, { uid: metadata.uid, foreground: false });
  await until(async () => ((await look()) === null ? true : null));

  expect(processes).toBe('');
  const histories = await readHistories();
  // Names stand in the open; what was observed is a payload.
  expect(histories).toContain('attachValkeyReplica');
  expect(histories).toContain('secretRef');
  expect(leaks(histories)).toBe(false);
  const directory = join(stack.home, 'logs');
  const leaking = readdirSync(directory).filter((file) => leaks(readFileSync(join(directory, file), 'utf8')));
  expect(leaking).toEqual([]);
});
