import { sha256Hex } from '../../shared/sha256.ts';

/** The API group of the resource, which also prefixes every label and annotation that we set. */
export const API_GROUP = 'valkey-operator.smoketurner.com';
export const API_VERSION = `${API_GROUP}/v1alpha1`;
export const KIND = 'ValkeyCluster';

/** Labels by which the objects of a cluster, and the pods of one of its shards, are found. */
export const CLUSTER_LABEL = `${API_GROUP}/cluster`;
export const SHARD_LABEL = `${API_GROUP}/shard`;
/** On pods: the hash of everything in the template that only a restart can change. */
export const TEMPLATE_ANNOTATION = `${API_GROUP}/template-hash`;

/** On StatefulSets: the hash of everything that was applied when they were last written. */
export const APPLIED_ANNOTATION = `${API_GROUP}/applied-hash`;

/** On the resource: asks once for even shares of the slots; every new value, such as the time, asks once more. */
export const REBALANCE_ANNOTATION = `${API_GROUP}/rebalance`;

/** On the resource: for so many seconds after a new password came, the old one stays valid. */
export const OVERLAP_ANNOTATION = `${API_GROUP}/password-overlap-seconds`;

export const CLIENT_PORT = 6379;
/** The container of the server in a pod. */
export const CONTAINER = 'valkey';
export const BUS_PORT = 16379;

/** A StatefulSet's revision label holds its name and eleven characters more, and a label ends at 63. */
const SET_NAME_MAX = 52;
const HASH_LENGTH = 8;

/** The name of a shard's StatefulSet: `cache-0`, or shortened around a hash of the whole cluster's name. */
export function shardSetName(cluster: string, shard: number): string {
  const plain = `${cluster}-${shard}`;
  if (plain.length <= SET_NAME_MAX) return plain;
  const suffix = `-${sha256Hex(cluster).slice(0, HASH_LENGTH)}-${shard}`;
  return `${cluster.slice(0, SET_NAME_MAX - suffix.length)}${suffix}`;
}

/** The names of a cluster's pods, which its claims repeat after `data-`. */
export const podName = (cluster: string, shard: number, ordinal: number): string =>
  `${shardSetName(cluster, shard)}-${ordinal}`;

export const headlessServiceName = (cluster: string): string => `${cluster}-headless`;
export const clientServiceName = (cluster: string): string => cluster;
export const readServiceName = (cluster: string): string => `${cluster}-read`;
export const configMapName = (cluster: string): string => `${cluster}-config`;
export const disruptionBudgetName = (cluster: string): string => cluster;
/** Where cert-manager puts the certificate that it issues for a cluster. */
export const issuedTlsSecretName = (cluster: string): string => `${cluster}-tls`;

/**
 * Where we keep the passwords that servers may still have: beside the cluster, and gone with it. A cluster that takes the
 * name of one just deleted must not meet what the garbage collector has still to take away.
 */
export const keptAuthSecretName = (cluster: string, uid: string): string =>
  `${cluster}-auth-kept-${uid.slice(0, HASH_LENGTH)}`;

/** The labels that select a cluster's pods; a shard's when one is given. Selectors are immutable: add nothing. */
export const selectorLabels = (cluster: string, shard?: number): Readonly<Record<string, string>> => ({
  [CLUSTER_LABEL]: cluster,
  ...(shard === undefined ? {} : { [SHARD_LABEL]: String(shard) }),
});

/** The same as the text that list calls and the scale subresource take. */
export const podSelector = (cluster: string, shard?: number): string =>
  Object.entries(selectorLabels(cluster, shard))
    .map(([label, value]) => `${label}=${value}`)
    .join(',');
