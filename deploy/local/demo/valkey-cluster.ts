import { ApiError } from '../kubernetes/api.ts';
import { applyAll, readManifest } from '../kubernetes/manifests.ts';
import type { Scene, Stage } from './scene.ts';

const NAME = 'cache';

/** A version that the upgrade starts from. */
const OLD = '9.0.0';

/** A Valkey cluster comes into being, is upgraded, and goes away again. */
export const valkeyCluster: Scene = {
  parts: [],
  target: ({ namespace }) => `valkey-cluster/${namespace}/${NAME}`,
  acts: [
    {
      title: 'apply a ValkeyCluster of three masters with a replica each',
      async begin(stage) {
        await applySample(stage, 'samples/valkey-cluster.yaml', (spec) => ({ ...spec, image: { tag: OLD } }));
      },
      async check(stage) {
        const { status } = (await stage.api.send('GET', pathIn(stage))) as { status?: { phase?: string } };
        if (status?.phase !== 'Running')
          throw new Error(`the cluster is ${status?.phase ?? 'without a phase'}, not Running`);
      },
    },
    {
      title: `upgrade it from ${OLD}, shard after shard`,
      begin: (stage) => applySample(stage, 'samples/valkey-upgrade.yaml'),
      async check(stage) {
        const { status } = (await stage.api.send('GET', pathIn(stage))) as {
          status?: { phase?: string; valkeyVersion?: string };
        };
        if (status?.phase !== 'Running' || status.valkeyVersion === OLD)
          throw new Error(`the cluster is ${status?.phase ?? 'without a phase'} on ${status?.valkeyVersion}`);
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

/** Applies what a sample has, in the namespace of the stage. */
async function applySample(
  { api, namespace }: Stage,
  file: string,
  change: (spec: object) => object = (spec) => spec,
): Promise<void> {
  const placed = readManifest(file).map((object) => ({
    ...object,
    metadata: { ...object.metadata, namespace },
    ...('spec' in object ? { spec: change(Object(object.spec) as object) } : {}),
  }));
  await applyAll(api, placed);
}

function pathIn({ namespace }: Stage): string {
  return `/apis/valkey-operator.smoketurner.com/v1alpha1/namespaces/${namespace}/valkeyclusters/${NAME}`;
}
