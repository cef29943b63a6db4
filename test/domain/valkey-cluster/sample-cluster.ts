import type {
  ValkeyClusterResource,
  ValkeyClusterSpec,
} from '../../../workflows/valkey-cluster/domain/observation.ts';

/** A spec as the API server fills it in. */
export const sampleSpec: ValkeyClusterSpec = {
  masters: 3,
  replicasPerMaster: 1,
  approvals: 'None',
  image: {
    repository: 'valkey/valkey',
    tag: '9.1.2',
    pullPolicy: 'IfNotPresent',
    pullSecrets: [],
    allowDowngrade: false,
  },
  auth: { secretRef: { name: 'cache-auth', key: 'password' } },
  persistence: {
    enabled: true,
    size: '1Gi',
    retention: 'Retain',
    aof: { enabled: true, fsync: 'everysec' },
    rdb: { enabled: true, saveRules: ['900 1', '300 10', '60 10000'] },
  },
  resources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { cpu: '1', memory: '1Gi' } },
  scheduling: {
    spreadMasters: true,
    topologyKey: 'kubernetes.io/hostname',
    nodeSelector: {},
    tolerations: [],
  },
  labels: {},
  annotations: {},
  readService: { enabled: false, serviceType: 'ClusterIP', annotations: {} },
  metricsExporter: { enabled: false, image: 'oliver006/redis_exporter:latest', port: 9121 },
  replication: { disklessSync: false, disklessSyncDelay: 5, minReplicasToWrite: 0, minReplicasMaxLag: 10 },
};

/** A resource named `default/cache`, with what a test changes of its spec. */
export const sampleCluster = (
  spec: Partial<ValkeyClusterSpec> = {},
  name = 'cache',
): ValkeyClusterResource => ({
  namespace: 'default',
  name,
  uid: '0f8b7953-011e-477f-8606-d276d12a76e0',
  generation: 1,
  deleting: false,
  finalizers: [],
  annotations: {},
  spec: { ...sampleSpec, ...spec },
  phase: null,
  observedGeneration: 0,
});
