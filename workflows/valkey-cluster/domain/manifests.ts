import { hashJson, type Json } from '../../shared/plan.ts';
import * as names from './names.ts';
import type { ValkeyClusterResource, ValkeyIntent } from './observation.ts';
import { buildPodTemplate, commonLabels, templateHash, tlsSecretName } from './pod-template.ts';
import { buildServerConfig } from './server-config.ts';
import { SERVER_SCRIPTS } from './server-scripts.ts';

/** An object's full intent; the same shape as the Kubernetes activities take, so that this stays pure. */
export interface ValkeyManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly [field: string]: Json;
}

/** Everything that the shards of a cluster share, in the order in which it is applied. */
export function buildSharedObjects(cluster: ValkeyClusterResource): readonly ValkeyManifest[] {
  const { tls, readService } = cluster.spec;
  return [
    buildConfigMap(cluster),
    buildHeadlessService(cluster),
    buildClientService(cluster),
    ...(readService.enabled ? [buildReadService(cluster)] : []),
    buildDisruptionBudget(cluster),
    ...(tls?.issuerRef === undefined || tls.secretName !== undefined ? [] : [buildCertificate(cluster)]),
  ];
}

/** The StatefulSet of one shard: a master and its replicas, none of which the set can tell apart. */
export function buildShardSet(cluster: ValkeyClusterResource, shard: number): ValkeyManifest {
  const set = buildBareSet(cluster, shard);
  const annotations = { ...set.metadata.annotations, [names.APPLIED_ANNOTATION]: appliedHash(cluster) };
  return { ...set, metadata: { ...set.metadata, annotations } };
}

/** Differs whenever any object of the cluster would be written otherwise; how many shards and pods there are is seen anyway. */
const appliedHash = (cluster: ValkeyClusterResource): string =>
  hashJson([
    ...buildSharedObjects(cluster),
    { ...buildBareSet(cluster, 0), spec: { ...Object(buildBareSet(cluster, 0)['spec']), replicas: 0 } },
  ]).slice('sha256:'.length, 'sha256:'.length + 16);

/** What the objects of a cluster should carry, as this version builds them. */
export const hashesOf = (cluster: ValkeyClusterResource): ValkeyIntent => ({
  templateHash: templateHash(cluster),
  appliedHash: appliedHash(cluster),
});

function buildBareSet(cluster: ValkeyClusterResource, shard: number): ValkeyManifest {
  const { persistence, replicasPerMaster } = cluster.spec;
  return {
    ...object(cluster, 'apps/v1', 'StatefulSet', names.shardSetName(cluster.name, shard), {
      [names.SHARD_LABEL]: String(shard),
    }),
    spec: {
      serviceName: names.headlessServiceName(cluster.name),
      replicas: 1 + replicasPerMaster,
      // All pods of a shard start together, and only we restart them: replicas first, the master after its handover.
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: names.selectorLabels(cluster.name, shard) },
      template: buildPodTemplate(cluster, shard),
      ...(persistence.enabled ? claims(cluster, shard) : {}),
    },
  };
}

function claims(cluster: ValkeyClusterResource, shard: number): { readonly [key: string]: Json } {
  const { storageClassName, size, retention } = cluster.spec.persistence;
  return {
    persistentVolumeClaimRetentionPolicy: { whenDeleted: retention, whenScaled: retention },
    volumeClaimTemplates: [
      {
        metadata: { name: 'data', labels: { ...names.selectorLabels(cluster.name, shard) } },
        spec: {
          accessModes: ['ReadWriteOnce'],
          ...(storageClassName === undefined ? {} : { storageClassName }),
          resources: { requests: { storage: size } },
        },
      },
    ],
  };
}

const buildConfigMap = (cluster: ValkeyClusterResource): ValkeyManifest => ({
  ...object(cluster, 'v1', 'ConfigMap', names.configMapName(cluster.name)),
  data: { 'valkey.conf': buildServerConfig(cluster.spec), ...SERVER_SCRIPTS },
});

/** Gives every pod a name, also while it is not ready: forming a cluster is what makes it useful. */
function buildHeadlessService(cluster: ValkeyClusterResource): ValkeyManifest {
  const { enabled, port } = cluster.spec.metricsExporter;
  return {
    ...object(cluster, 'v1', 'Service', names.headlessServiceName(cluster.name)),
    spec: {
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: names.selectorLabels(cluster.name),
      ports: [
        clientPort,
        { name: 'bus', port: names.BUS_PORT, targetPort: 'bus' },
        ...(enabled ? [{ name: 'metrics', port, targetPort: 'metrics' }] : []),
      ],
    },
  };
}

/** Where clients begin; the cluster protocol then leads them to the right node. */
const buildClientService = (cluster: ValkeyClusterResource): ValkeyManifest => ({
  ...object(cluster, 'v1', 'Service', names.clientServiceName(cluster.name)),
  spec: { type: 'ClusterIP', selector: names.selectorLabels(cluster.name), ports: [clientPort] },
});

function buildReadService(cluster: ValkeyClusterResource): ValkeyManifest {
  const { serviceType, annotations } = cluster.spec.readService;
  const manifest = object(cluster, 'v1', 'Service', names.readServiceName(cluster.name));
  return {
    ...manifest,
    metadata: { ...manifest.metadata, annotations: { ...manifest.metadata.annotations, ...annotations } },
    spec: { type: serviceType, selector: names.selectorLabels(cluster.name), ports: [clientPort] },
  };
}

/** One pod at a time: two evictions at once could take a master together with its only replica. */
const buildDisruptionBudget = (cluster: ValkeyClusterResource): ValkeyManifest => ({
  ...object(cluster, 'policy/v1', 'PodDisruptionBudget', names.disruptionBudgetName(cluster.name)),
  spec: { maxUnavailable: 1, selector: { matchLabels: names.selectorLabels(cluster.name) } },
});

function buildCertificate(cluster: ValkeyClusterResource): ValkeyManifest {
  const { name, namespace, spec } = cluster;
  const services = [names.clientServiceName(name), names.headlessServiceName(name)].concat(
    spec.readService.enabled ? [names.readServiceName(name)] : [],
  );
  return {
    ...object(cluster, 'cert-manager.io/v1', 'Certificate', names.issuedTlsSecretName(name)),
    spec: {
      secretName: tlsSecretName(cluster) ?? '',
      duration: spec.tls?.duration ?? '2160h',
      renewBefore: spec.tls?.renewBefore ?? '360h',
      issuerRef: { ...spec.tls?.issuerRef },
      privateKey: { algorithm: 'ECDSA', size: 256 },
      usages: ['server auth', 'client auth'],
      dnsNames: [
        ...services.flatMap((service) => [`${service}.${namespace}.svc`, `${service}.${namespace}`]),
        `*.${names.headlessServiceName(name)}.${namespace}.svc`,
      ],
    },
  };
}

const clientPort = { name: 'valkey', port: names.CLIENT_PORT, targetPort: 'valkey' } as const;

const object = (
  cluster: ValkeyClusterResource,
  apiVersion: string,
  kind: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): ValkeyManifest => ({
  apiVersion,
  kind,
  metadata: {
    name,
    namespace: cluster.namespace,
    labels: { ...cluster.spec.labels, ...names.selectorLabels(cluster.name), ...commonLabels, ...labels },
    annotations: { ...cluster.spec.annotations },
  },
});
