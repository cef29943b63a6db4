import { z } from 'zod';
import { failure } from '../../workflows/shared/failures.ts';
import { parseQuantity } from '../../workflows/shared/quantity.ts';
import type {
  ValkeyClusterResource,
  ValkeyClusterSpec,
} from '../../workflows/valkey-cluster/domain/observation.ts';
import type { CustomObject } from '../kubernetes/objects.ts';

const texts = z.record(z.string(), z.string()).default({});
const quantities = z
  .record(
    z.string(),
    z.string().refine((text) => parseQuantity(text) !== null, 'must be a quantity such as 1Gi'),
  )
  .default({});
const secretKey = z.object({ name: z.string(), key: z.string() });

/** What plans rely on. The API server has filled in the defaults; what is missing here is an old definition's fault. */
const spec = z.object({
  masters: z.int(),
  replicasPerMaster: z.int(),
  image: z.object({
    repository: z.string(),
    tag: z.string(),
    pullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']),
    pullSecrets: z.array(z.string()).default([]),
    allowDowngrade: z.boolean().default(false),
  }),
  tls: z
    .object({
      issuerRef: z.object({ name: z.string(), kind: z.string(), group: z.string() }).optional(),
      secretName: z.string().optional(),
      duration: z.string(),
      renewBefore: z.string(),
    })
    .optional(),
  auth: z
    .object({
      secretRef: secretKey,
      acl: z
        .object({ enabled: z.boolean(), configSecretRef: secretKey.optional(), adminUser: z.string() })
        .optional(),
    })
    .optional(),
  persistence: z.object({
    enabled: z.boolean(),
    storageClassName: z.string().optional(),
    size: z.string(),
    aof: z.object({ enabled: z.boolean(), fsync: z.enum(['always', 'everysec', 'no']) }),
    rdb: z.object({ enabled: z.boolean(), saveRules: z.array(z.string()) }),
    retention: z.enum(['Retain', 'Delete']),
  }),
  resources: z.object({ requests: quantities, limits: quantities }),
  scheduling: z.object({
    spreadMasters: z.boolean(),
    topologyKey: z.string(),
    nodeSelector: texts,
    tolerations: z.array(z.record(z.string(), z.union([z.string(), z.number()]))).default([]),
  }),
  labels: texts,
  annotations: texts,
  readService: z.object({ enabled: z.boolean(), serviceType: z.string(), annotations: texts }),
  metricsExporter: z.looseObject({ enabled: z.boolean(), image: z.string(), port: z.int() }),
  replication: z.object({
    disklessSync: z.boolean(),
    disklessSyncDelay: z.int(),
    minReplicasToWrite: z.int(),
    minReplicasMaxLag: z.int(),
  }),
  approvals: z.enum(['None', 'Irreversible']),
});

/** Reads the resource out of the API server's JSON; a field that cannot be worked with is named. */
export function parseValkeyCluster(object: CustomObject, namespace: string): ValkeyClusterResource {
  const { metadata, status } = object;
  const parsed = spec.safeParse(object.spec);
  if (!parsed.success) {
    const words = parsed.error.issues.map((issue) => `spec.${issue.path.join('.')}: ${issue.message}`);
    throw failure('ResourceInvalid', words.join('; '));
  }
  const observed = status?.['observedGeneration'];
  const phase = status?.['phase'];
  const rebalancedFor = status?.['rebalancedFor'];
  return {
    namespace: metadata.namespace ?? namespace,
    name: metadata.name,
    uid: metadata.uid,
    generation: metadata.generation ?? 0,
    deleting: metadata.deletionTimestamp !== undefined,
    finalizers: metadata.finalizers ?? [],
    annotations: metadata.annotations ?? {},
    spec: withoutAbsent(parsed.data) as ValkeyClusterSpec,
    phase: typeof phase === 'string' ? phase : null,
    observedGeneration: typeof observed === 'number' ? observed : 0,
    rebalancedFor: typeof rebalancedFor === 'string' ? rebalancedFor : null,
  };
}

/** Optional fields are absent, not undefined, on the other side of Temporal's JSON; here too, so that both are equal. */
const withoutAbsent = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;
