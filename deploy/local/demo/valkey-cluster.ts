import { ApiError } from '../kubernetes/api.ts';
import { applyAll, readManifest } from '../kubernetes/manifests.ts';
import type { Scene, Stage } from './scene.ts';

const NAME = 'cache';

/** A Valkey cluster comes into being and goes away again. */
export const valkeyCluster: Scene = {
  lifecycle: 'valkey-cluster',
  resource: NAME,
  acts: [
    {
      title: 'apply a ValkeyCluster of three masters with a replica each',
      async begin({ api, namespace }) {
        const objects = readManifest('samples/valkey-cluster.yaml');
        const placed = objects.map((object) => ({ ...object, metadata: { ...object.metadata, namespace } }));
        await applyAll(api, placed);
      },
      async check(stage) {
        const { status } = (await stage.api.send('GET', pathIn(stage))) as { status?: { phase?: string } };
        if (status?.phase !== 'Running')
          throw new Error(`the cluster is ${status?.phase ?? 'without a phase'}, not Running`);
      },
    },
    {
      title: 'delete it',
      isFarewell: true,
      async begin(stage) {
        await stage.api.send('DELETE', pathIn(stage));
      },
      async check(stage) {
        try {
          await stage.api.send('GET', pathIn(stage));
        } catch (error) {
          if (error instanceof ApiError && error.status === 404) return;
          throw error;
        }
        throw new Error('the cluster is still there');
      },
    },
  ],
};

function pathIn({ namespace }: Stage): string {
  return `/apis/valkey-operator.smoketurner.com/v1alpha1/namespaces/${namespace}/valkeyclusters/${NAME}`;
}
