import { createKubernetesActivities } from '../../../activities/kubernetes/activities.ts';
import { createValkeyActivities } from '../../../activities/valkey/activities.ts';
import { createValkeyConnect } from '../../../activities/valkey/client.ts';
import { valkeyNaming } from '../../../worker/activities.ts';
import type { ValkeyTypes } from '../../../workflows/valkey-cluster/contract.ts';
import { DEFAULT_SPEC } from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';
import { runAttempt } from '../attempt.ts';
import { openStage, SPECIMEN } from '../kubernetes/stage.ts';
import { worldSuite, type WorldStage } from './world-suite.ts';

worldSuite(openRealWorld);

/** Kubernetes and Valkey of the stack, and a resource of a kind that no worker takes for its work. */
async function openRealWorld(): Promise<WorldStage> {
  const { client, namespace, close } = await openStage();
  const naming = { ...valkeyNaming, ...SPECIMEN };
  const all = {
    ...createKubernetesActivities(client),
    ...createValkeyActivities({ kubernetes: client, connect: createValkeyConnect(), naming }),
  } as unknown as Record<string, (...args: readonly unknown[]) => Promise<unknown>>;
  const activities = new Proxy(all, {
    get:
      (target, name) =>
      (...args: readonly unknown[]) =>
        runAttempt(async () => target[String(name)]?.(...args)).result,
  }) as unknown as ValkeyTypes['activities'];
  const ref = { namespace, name: 'cache' };
  const persistence = { ...DEFAULT_SPEC.persistence, size: '64Mi' };
  return {
    ref,
    kind: SPECIMEN,
    activities,
    async create(spec) {
      const body = { ...SPECIMEN, metadata: ref, spec: { ...DEFAULT_SPEC, persistence, ...spec } };
      await client.create({ ...SPECIMEN, ...ref }, body);
    },
    close,
  };
}
