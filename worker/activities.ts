import { createEc2Activities } from '../activities/ec2/activities.ts';
import { createEc2Clients } from '../activities/ec2/client.ts';
import type { Ec2Activities } from '../activities/ec2/contract.ts';
import { createKubernetesActivities } from '../activities/kubernetes/activities.ts';
import { createKubernetesClient, loadKubeConfig } from '../activities/kubernetes/client.ts';
import type { MutationHook } from '../activities/mutations.ts';
import { createMysqlActivities } from '../activities/mysql/activities.ts';
import { createMysqlClient } from '../activities/mysql/client.ts';
import type { MysqlActivities } from '../activities/mysql/contract.ts';
import type { PromotionMeasures } from '../activities/mysql/promote.ts';
import type { ValkeyNaming } from '../activities/valkey/access.ts';
import { createValkeyActivities } from '../activities/valkey/activities.ts';
import { createValkeyConnect } from '../activities/valkey/client.ts';
import { buildAccess } from '../workflows/valkey-cluster/domain/access.ts';
import { hashesOf } from '../workflows/valkey-cluster/domain/manifests.ts';
import * as valkey from '../workflows/valkey-cluster/domain/names.ts';
import { holdVersion } from '../workflows/valkey-upgrade/domain/judgement.ts';
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
  container: valkey.CONTAINER,
  appliedAnnotation: valkey.APPLIED_ANNOTATION,
  port: valkey.CLIENT_PORT,
  accessOf: buildAccess,
  intentOf: (observed) => hashesOf(holdVersion(observed).cluster),
};

/** All activities of all systems, and how to let go of what they hold. */
export interface WorkerActivities {
  readonly activities: object;
  close(): Promise<void>;
}

/** All activities of all systems, over clients that share the hook; those of spot agents where a database is named. */
export function createActivities(options: {
  readonly requestTimeoutMs: number;
  readonly hook: MutationHook;
  readonly mysqlUrl: string | undefined;
  readonly promotions: PromotionMeasures;
}): WorkerActivities {
  const { hook, requestTimeoutMs, mysqlUrl, promotions } = options;
  const kubernetes = createKubernetesClient(loadKubeConfig(), { requestTimeoutMs, hook });
  const spot = mysqlUrl === undefined ? null : createSpotActivities(mysqlUrl, hook, { promotions });
  return {
    activities: {
      ...createKubernetesActivities(kubernetes),
      ...createValkeyActivities({ kubernetes, connect: createValkeyConnect(hook), naming: valkeyNaming }),
      ...spot?.activities,
    },
    close: async () => spot?.close(),
  };
}

/** The activities of spot agents, over a database and EC2 as AWS's own environment variables name it. */
export function createSpotActivities(
  mysqlUrl: string,
  hook: MutationHook,
  options: { readonly ec2Url?: string; readonly promotions?: PromotionMeasures } = {},
): { readonly activities: MysqlActivities & Ec2Activities; close(): Promise<void> } {
  const mysql = createMysqlClient(mysqlUrl, hook);
  const ec2 = createEc2Clients(hook, options.ec2Url === undefined ? {} : { endpoint: options.ec2Url });
  return {
    activities: { ...createMysqlActivities(mysql, options.promotions), ...createEc2Activities(ec2) },
    async close() {
      ec2.close();
      await mysql.close();
    },
  };
}
