import { createKubernetesActivities } from '../activities/kubernetes/activities.ts';
import { createKubernetesClient, loadKubeConfig } from '../activities/kubernetes/client.ts';
import type { MutationHook } from '../activities/mutations.ts';
import type { ValkeyNaming } from '../activities/valkey/access.ts';
import { createValkeyActivities } from '../activities/valkey/activities.ts';
import { createValkeyConnect } from '../activities/valkey/client.ts';
import * as valkey from '../workflows/valkey-cluster/domain/names.ts';
import { UPGRADE_KIND } from '../workflows/valkey-upgrade/domain/resource.ts';
import { FOR_TAG_ANNOTATION } from '../workflows/valkey-upgrade/domain/wish.ts';

/** What the Valkey lifecycle calls its objects. */
export const valkeyNaming: ValkeyNaming = {
  apiVersion: valkey.API_VERSION,
  kind: valkey.KIND,
  upgradeKind: UPGRADE_KIND,
  forTagAnnotation: FOR_TAG_ANNOTATION,
  clusterLabel: valkey.CLUSTER_LABEL,
  shardLabel: valkey.SHARD_LABEL,
  templateAnnotation: valkey.TEMPLATE_ANNOTATION,
  appliedAnnotation: valkey.APPLIED_ANNOTATION,
  port: valkey.CLIENT_PORT,
  issuedTlsSecret: valkey.issuedTlsSecretName,
};

/** All activities of all systems, over clients that share the hook. */
export function createActivities(options: {
  readonly requestTimeoutMs: number;
  readonly hook: MutationHook;
}): object {
  const { hook, requestTimeoutMs } = options;
  const kubernetes = createKubernetesClient(loadKubeConfig(), { requestTimeoutMs, hook });
  return {
    ...createKubernetesActivities(kubernetes),
    ...createValkeyActivities({ kubernetes, connect: createValkeyConnect(hook), naming: valkeyNaming }),
  };
}
