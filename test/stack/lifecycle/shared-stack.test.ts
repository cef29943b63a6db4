import { Connection } from '@temporalio/client';
import { expect, test } from 'vitest';
import { KubernetesApi } from '../../../deploy/local/kubernetes/api.ts';
import type { KubernetesObject } from '../../../deploy/local/kubernetes/api.ts';
import { useStack } from '../../../deploy/local/testing.ts';

test('gives each component its own rights and no more', async () => {
  const stack = await useStack();
  const allowed = async (component: 'worker' | 'starter' | 'nodes', verb: string, resource: string) => {
    const api = new KubernetesApi(stack.kubeconfig(component));
    const spec = { resourceAttributes: { namespace: 'default', verb, resource } };
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const answer = (await api.send('POST', path, { spec })) as { status: { allowed: boolean } };
    api.close();
    return answer.status.allowed;
  };
  expect(await allowed('worker', 'delete', 'pods')).toBe(true);
  expect(await allowed('worker', 'list', 'secrets')).toBe(false);
  expect(await allowed('worker', 'delete', 'nodes')).toBe(false);
  expect(await allowed('starter', 'watch', 'pods')).toBe(true);
  expect(await allowed('starter', 'delete', 'pods')).toBe(false);
  expect(await allowed('nodes', 'update', 'statefulsets')).toBe(false);
});

test('has five nodes in three zones', async () => {
  const stack = await useStack();
  const api = new KubernetesApi(stack.kubeconfig('admin'));
  const { items } = (await api.send('GET', '/api/v1/nodes')) as { items: readonly KubernetesObject[] };
  api.close();
  const zones = items.map(({ metadata }) => metadata.labels?.['topology.kubernetes.io/zone'] ?? '');
  expect(zones.toSorted((one, other) => one.localeCompare(other))).toEqual(['a', 'a', 'b', 'b', 'c']);
});

test('gives a test a Temporal namespace with the search attributes', async () => {
  const stack = await useStack();
  const namespace = await stack.createTemporalNamespace('attributes');
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  await connection.close();
  expect(Object.keys(customAttributes ?? {})).toEqual(
    expect.arrayContaining([
      'KeelsonKind',
      'KeelsonNamespace',
      'KeelsonName',
      'KeelsonPhase',
      'KeelsonOperation',
    ]),
  );
});

test('gives a test a Kubernetes namespace, and takes it away with all that is in it', async () => {
  const stack = await useStack();
  const api = new KubernetesApi(stack.kubeconfig('admin'));
  const namespace = await stack.createNamespace('shared');
  await api.send('POST', `/api/v1/namespaces/${namespace.name}/configmaps`, { metadata: { name: 'one' } });
  await namespace.remove();
  const look = () =>
    api.send('GET', `/api/v1/namespaces/${namespace.name}`).catch((error: unknown) => String(error));
  await expect.poll(look, { timeout: 60_000 }).toMatch(/not found/);
  api.close();
});
