import { hashJson } from '../../shared/plan.ts';
import type { Json } from '../../shared/plan.ts';
import { buildExporter } from './metrics-exporter.ts';
import * as names from './names.ts';
import type { ValkeyClusterResource, ValkeyClusterSpec } from './observation.ts';
import { fixedSettings, NODE_TIMEOUT_MS } from './server-config.ts';
import { SERVER_SCRIPTS } from './server-scripts.ts';

type Fields = { readonly [key: string]: Json };

/** The user of the official image. */
const VALKEY_UID = 999;
const GRACE_SECONDS = 60;
const ZONE_KEY = 'topology.kubernetes.io/zone';

/** The pods of one shard, all alike: which of them is master is for Valkey to say, not for an ordinal. */
export function buildPodTemplate(cluster: ValkeyClusterResource, shard: number): Fields {
  return {
    metadata: {
      labels: { ...cluster.spec.labels, ...names.selectorLabels(cluster.name, shard), ...commonLabels },
      annotations: { ...cluster.spec.annotations, [names.TEMPLATE_ANNOTATION]: templateHash(cluster) },
    },
    spec: podSpec(cluster, shard),
  };
}

/** Equal for pods that need no restart; shards share it, and so do pods that differ in labels only. */
export const templateHash = (cluster: ValkeyClusterResource): string =>
  hashJson({
    pod: podSpec(cluster, 0),
    settings: fixedSettings(cluster.spec),
    scripts: SERVER_SCRIPTS,
  }).slice('sha256:'.length, 'sha256:'.length + 16);

/** The image as pods and StatefulSets name it. */
export const imageOf = (spec: ValkeyClusterSpec): string => `${spec.image.repository}:${spec.image.tag}`;

/** Labels that people and dashboards know, on every object. */
export const commonLabels: Readonly<Record<string, string>> = {
  'app.kubernetes.io/name': 'valkey',
  'app.kubernetes.io/managed-by': 'keelson',
};

/** The Secret with the cluster's certificate: the user's own, or the one that cert-manager fills. */
export const tlsSecretName = (cluster: ValkeyClusterResource): string | null =>
  cluster.spec.tls === undefined
    ? null
    : (cluster.spec.tls.secretName ?? names.issuedTlsSecretName(cluster.name));

function podSpec(cluster: ValkeyClusterResource, shard: number): Fields {
  const { spec } = cluster;
  return {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: GRACE_SECONDS,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: VALKEY_UID,
      runAsGroup: VALKEY_UID,
      fsGroup: VALKEY_UID,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    ...(spec.image.pullSecrets.length === 0
      ? {}
      : { imagePullSecrets: spec.image.pullSecrets.map((name) => ({ name })) }),
    nodeSelector: spec.scheduling.nodeSelector,
    tolerations: spec.scheduling.tolerations,
    topologySpreadConstraints: spread(cluster, shard),
    containers: [serverContainer(spec), ...(spec.metricsExporter.enabled ? [buildExporter(spec)] : [])],
    volumes: volumes(cluster),
  };
}

function serverContainer(spec: ValkeyClusterSpec): Fields {
  return {
    name: names.CONTAINER,
    image: imageOf(spec),
    imagePullPolicy: spec.image.pullPolicy,
    command: ['/bin/sh', '/config/start.sh'],
    env: environment(spec),
    ports: [
      { name: 'valkey', containerPort: names.CLIENT_PORT },
      { name: 'bus', containerPort: names.BUS_PORT },
    ],
    resources: { requests: spec.resources.requests, limits: spec.resources.limits },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    readinessProbe: {
      exec: { command: ['/bin/sh', '/config/ready.sh'] },
      periodSeconds: 2,
      timeoutSeconds: 3,
      failureThreshold: 3,
    },
    // Only a server that takes no connection at all is worth a restart: a busy one, or one that loads, is not.
    livenessProbe: {
      tcpSocket: { port: names.CLIENT_PORT },
      periodSeconds: 10,
      timeoutSeconds: 5,
      failureThreshold: 6,
    },
    lifecycle: { preStop: { exec: { command: ['/bin/sh', '/config/stop.sh'] } } },
    volumeMounts: [
      { name: 'data', mountPath: '/data' },
      { name: 'config', mountPath: '/config', readOnly: true },
      { name: 'runtime', mountPath: '/runtime' },
      ...(spec.auth === undefined ? [] : [{ name: 'auth', mountPath: '/auth', readOnly: true }]),
      ...(usesAcl(spec) ? [{ name: 'acl', mountPath: '/acl', readOnly: true }] : []),
      ...(spec.tls === undefined ? [] : [{ name: 'tls', mountPath: '/tls', readOnly: true }]),
    ],
  };
}

function environment(spec: ValkeyClusterSpec): Json[] {
  const fromPod = (name: string, fieldPath: string): Fields => ({
    name,
    valueFrom: { fieldRef: { fieldPath } },
  });
  return [
    fromPod('POD_IP', 'status.podIP'),
    fromPod('POD_NAME', 'metadata.name'),
    { name: 'HOLD_BACK_SECONDS', value: String(holdBackSeconds(spec)) },
    ...(usesAcl(spec) ? [{ name: 'VALKEY_USER', value: spec.auth?.acl?.adminUser ?? 'default' }] : []),
    ...(spec.tls === undefined ? [] : [{ name: 'VALKEY_TLS', value: 'yes' }]),
  ];
}

/** Without an append-only file a killed server comes back old or empty: a replica that knows more must be elected first. */
const holdBackSeconds = (spec: ValkeyClusterSpec): number =>
  (spec.persistence.enabled && spec.persistence.aof.enabled) || spec.replicasPerMaster === 0
    ? 0
    : (3 * NODE_TIMEOUT_MS) / 1000;

const usesAcl = (spec: ValkeyClusterSpec): boolean =>
  spec.auth?.acl?.enabled === true && spec.auth.acl.configSecretRef !== undefined;

/** The copies of one shard never share a node while another would do, and should not share a zone. */
function spread(cluster: ValkeyClusterResource, shard: number): Json[] {
  const { spreadMasters, topologyKey } = cluster.spec.scheduling;
  const ofShard = names.selectorLabels(cluster.name, shard);
  return [
    constraint(topologyKey, spreadMasters ? 'DoNotSchedule' : 'ScheduleAnyway', ofShard),
    ...(topologyKey === ZONE_KEY ? [] : [constraint(ZONE_KEY, 'ScheduleAnyway', ofShard)]),
    // Nor should one node carry more of the whole cluster than another.
    ...(spreadMasters ? [constraint(topologyKey, 'ScheduleAnyway', names.selectorLabels(cluster.name))] : []),
  ];
}

const constraint = (
  topologyKey: string,
  whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway',
  matchLabels: Readonly<Record<string, string>>,
): Fields => ({
  maxSkew: 1,
  topologyKey,
  whenUnsatisfiable,
  // A cordoned or lost node is no place that could still be filled.
  nodeTaintsPolicy: 'Honor',
  labelSelector: { matchLabels },
});

function volumes(cluster: ValkeyClusterResource): Json[] {
  const { spec } = cluster;
  const acl = usesAcl(spec) ? spec.auth?.acl?.configSecretRef : undefined;
  const tls = tlsSecretName(cluster);
  return [
    { name: 'config', configMap: { name: names.configMapName(cluster.name) } },
    { name: 'runtime', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
    ...(spec.persistence.enabled ? [] : [{ name: 'data', emptyDir: {} }]),
    ...(spec.auth === undefined ? [] : [secretVolume('auth', spec.auth.secretRef, 'password')]),
    ...(acl === undefined ? [] : [secretVolume('acl', acl, 'acl.conf')]),
    ...(tls === null ? [] : [{ name: 'tls', secret: { secretName: tls, defaultMode: 0o440 } }]),
  ];
}

const secretVolume = (
  name: string,
  ref: { readonly name: string; readonly key: string },
  path: string,
): Fields => ({
  name,
  secret: { secretName: ref.name, defaultMode: 0o440, items: [{ key: ref.key, path }] },
});
