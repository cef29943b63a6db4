import { randomUUID } from 'node:crypto';
import { KubeConfig } from '@kubernetes/client-node';
import { createKubernetesClient, type KubernetesClient } from '../../../activities/kubernetes/client.ts';
import type { ObjectIdentity, ObjectName } from '../../../activities/kubernetes/contract.ts';
import type { KubernetesObject } from '../../../activities/kubernetes/objects.ts';
import { useStack } from '../../../deploy/local/testing.ts';
import type { KubernetesClientOptions } from '../../../activities/kubernetes/client.ts';

/** A resource of the tests' own, with a status and conditions that several may write. */
export const SPECIMEN = { apiVersion: 'conformance.keelson.test/v1', kind: 'Specimen' } as const;

/** Where the suite plays: an API server, and a namespace that is only its own. */
export interface KubernetesStage {
  readonly client: KubernetesClient;
  readonly namespace: string;
  close(): Promise<void>;
}

/** The API server of the stack, as its administrator. */
export async function readKubeConfig(): Promise<KubeConfig> {
  const config = new KubeConfig();
  config.loadFromFile((await useStack()).kubeconfig('admin'));
  return config;
}

/** A namespace on the API server of the stack. */
export async function openStage(options: KubernetesClientOptions = {}): Promise<KubernetesStage> {
  const client = createKubernetesClient(await readKubeConfig(), options);
  await applyDefinition(client);
  const namespace = `conformance-${randomUUID().slice(0, 8)}`;
  const name: ObjectName = { apiVersion: 'v1', kind: 'Namespace', namespace: '', name: namespace };
  const { metadata } = await client.create(name, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  });
  await until(() => client.read({ apiVersion: 'v1', kind: 'ServiceAccount', namespace, name: 'default' }));
  return {
    client,
    namespace,
    close: async () => void (await client.delete(name, { uid: metadata.uid, foreground: false })),
  };
}

/** Looks again and again until there is something; the test's own time-out ends it. */
export async function until<T>(look: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** What names an object, with the uid that it has now. */
export const identityOf = (name: ObjectName, object: KubernetesObject): ObjectIdentity => ({
  ...name,
  uid: object.metadata.uid,
});

async function applyDefinition(client: KubernetesClient): Promise<void> {
  const name = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    namespace: '',
    name: 'specimens.conformance.keelson.test',
  };
  const conditions = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
    items: {
      type: 'object',
      required: ['type'],
      properties: { type: { type: 'string' } },
      'x-kubernetes-preserve-unknown-fields': true,
    },
  };
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      status: { type: 'object', properties: { conditions }, 'x-kubernetes-preserve-unknown-fields': true },
    },
  };
  const body = {
    apiVersion: name.apiVersion,
    kind: name.kind,
    metadata: { name: name.name },
    spec: {
      group: 'conformance.keelson.test',
      scope: 'Namespaced',
      names: { kind: 'Specimen', plural: 'specimens' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
  };
  await client.patch(name, { type: 'apply', manager: 'conformance', body });
  await until(async () => ((await client.has(SPECIMEN.apiVersion, SPECIMEN.kind)) ? true : null));
}
