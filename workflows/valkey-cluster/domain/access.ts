import { CLIENT_PORT, keptAuthSecretName } from './names.ts';
import type { ValkeyClusterResource, ValkeyPod } from './observation.ts';
import { tlsSecretName } from './pod-template.ts';

/** How activities reach the servers: Secrets by name, so that no value of one enters a history. */
export function buildAccess(cluster: ValkeyClusterResource): {
  readonly namespace: string;
  readonly cluster: string;
  readonly auth: {
    readonly secret: string;
    readonly key: string;
    readonly user: string;
    readonly kept: string;
    readonly acl?: { readonly secret: string; readonly key: string };
  } | null;
  readonly tls: { readonly secret: string } | null;
} {
  const { auth } = cluster.spec;
  const acl = auth?.acl?.enabled === true ? auth.acl.configSecretRef : undefined;
  const tls = tlsSecretName(cluster);
  return {
    namespace: cluster.namespace,
    cluster: cluster.name,
    auth:
      auth === undefined
        ? null
        : {
            secret: auth.secretRef.name,
            key: auth.secretRef.key,
            user: auth.acl?.enabled === true ? auth.acl.adminUser : 'default',
            kept: keptAuthSecretName(cluster.name, cluster.uid),
            ...(acl === undefined ? {} : { acl: { secret: acl.name, key: acl.key } }),
          },
    tls: tls === null ? null : { secret: tls },
  };
}

/** The servers of these pods, as far as they run. */
export const serversOf = (
  pods: readonly (Pick<ValkeyPod, 'name' | 'uid' | 'ip'> & Partial<Pick<ValkeyPod, 'terminating'>>)[],
): readonly { readonly pod: string; readonly podUid: string; readonly ip: string; readonly port: number }[] =>
  pods
    .filter((pod) => pod.terminating !== true)
    .flatMap(({ name, uid, ip }) => (ip === null ? [] : [{ pod: name, podUid: uid, ip, port: CLIENT_PORT }]));
