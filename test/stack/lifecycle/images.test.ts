import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openHome, pathOf } from '../../../deploy/local/home.ts';
import { KubernetesApi } from '../../../deploy/local/kubernetes/api.ts';
import { useStack } from '../../../deploy/local/testing.ts';

test('every image of Valkey runs the version that its name says', async () => {
  const stack = await useStack();
  await using namespace = await stack.createNamespace('images');
  const api = new KubernetesApi(stack.kubeconfig('admin'));
  const catalogue = JSON.parse(readFileSync(pathOf.images(openHome(stack.home)), 'utf8')) as Record<
    string,
    unknown
  >;
  const images = Object.keys(catalogue).filter((name) => name.startsWith('valkey/'));
  expect(images).toHaveLength(11);
  const pods = `/api/v1/namespaces/${namespace.name}/pods`;
  for (const [at, image] of images.entries()) {
    const version = /:([\d.]+)/.exec(image)?.[1];
    // The exit code tells: a shell, the server and the client in the image, each by its plain name.
    const script = `valkey-cli --version && valkey-server --version | grep -F "v=${version} "`;
    const container = { name: 'version', image, command: ['sh', '-c', script] };
    const pod = {
      metadata: { name: `image-${at}` },
      spec: { restartPolicy: 'Never', containers: [container] },
    };
    await expect.poll(() => attempt(() => api.send('POST', pods, pod)), { timeout: 30_000 }).toBe('done');
  }
  const phases = async (): Promise<readonly (string | undefined)[]> => {
    const { items } = (await api.send('GET', pods)) as { items: { status: { phase?: string } }[] };
    return items.map(({ status }) => status.phase);
  };
  await expect.poll(phases, { timeout: 60_000 }).toEqual(images.map(() => 'Succeeded'));
  api.close();
});

/** The default ServiceAccount, which every pod needs, comes a moment after its namespace. */
async function attempt(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'done';
  } catch (error) {
    return String(error);
  }
}
