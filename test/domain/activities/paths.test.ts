import { describe, expect, it } from 'vitest';
import { classify } from '../../../activities/kubernetes/errors.ts';
import { createPaths } from '../../../activities/kubernetes/paths.ts';

const asked: string[] = [];
const paths = createPaths(async (path) => {
  asked.push(path);
  return {
    resources: [
      { name: 'secrets', kind: 'Secret', namespaced: true },
      { name: 'nodes', kind: 'Node', namespaced: false },
    ],
  };
});
const secret = (namespace: string, name: string): Promise<string> =>
  paths.object({ apiVersion: 'v1', kind: 'Secret', namespace, name });

describe('the path of an object', () => {
  it.each([
    ['shop', 'cache-auth', '/api/v1/namespaces/shop/secrets/cache-auth'],
    ['shop', 'cache.auth.0', '/api/v1/namespaces/shop/secrets/cache.auth.0'],
    ['shop', 'a'.repeat(253), `/api/v1/namespaces/shop/secrets/${'a'.repeat(253)}`],
  ])('in %s with the name %s is made of both', async (namespace, name, path) => {
    expect(await secret(namespace, name)).toBe(path);
  });

  it('leaves the namespace out where the kind has none', async () => {
    const path = await paths.object({ apiVersion: 'v1', kind: 'Node', namespace: '', name: 'n1' });
    expect(path).toBe('/api/v1/nodes/n1');
  });

  it.each([
    ['shop', ''],
    ['shop', '.'],
    ['shop', '..'],
    ['shop', 'a/b'],
    ['shop', '../../kube-system/secrets/token'],
    ['shop', 'a%2Fb'],
    ['shop', 'a?watch=true'],
    ['shop', 'a#b'],
    ['shop', 'a b'],
    ['shop', 'a\nb'],
    ['shop', 'Upper'],
    ['shop', '-a'],
    ['shop', 'a.'],
    ['shop', 'ä'],
    ['shop', 'a'.repeat(254)],
    ['..', 'cache-auth'],
    ['a/b', 'cache-auth'],
    ['a.b', 'cache-auth'],
    ['a'.repeat(64), 'cache-auth'],
  ])('in %j with the name %j is refused in words, as an object that cannot be', async (namespace, name) => {
    const refusal: unknown = await secret(namespace, name).then(
      () => null,
      (error: unknown) => error,
    );
    expect(String(refusal)).toMatch(/cannot be the (name|namespace) of a Secret/);
    expect(classify(refusal)).toBe('KubernetesInvalid');
  });

  it('is refused as a list of a namespace that cannot be', async () => {
    const listed = paths.kind({ apiVersion: 'v1', kind: 'Secret', namespace: '../..' });
    await expect(listed).rejects.toThrow('cannot be the namespace of a Secret');
  });

  it.each(['', 'v1/../..', '../v1', 'a/b/v1', 'a?b/v1', '..', 'cert-manager.io/v1/x', 'cert-manager.io/'])(
    'is refused in an API of the version %j',
    async (apiVersion) => {
      const asking = paths.object({ apiVersion, kind: 'Secret', namespace: 'shop', name: 'a' });
      await expect(asking).rejects.toThrow('cannot be the version of an API');
      await expect(paths.has(apiVersion, 'Secret')).rejects.toThrow('cannot be the version of an API');
    },
  );

  it('asks the API server for nothing but what kinds there are', () => {
    expect(new Set(asked)).toEqual(new Set(['/api/v1']));
  });
});
