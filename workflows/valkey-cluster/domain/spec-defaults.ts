import type { Json } from '../../shared/plan.ts';
import { parseQuantity } from '../../shared/quantity.ts';
import type { ValkeyClusterSpec } from './observation.ts';

/** What the API server fills in where a manifest says nothing: the same values as in the definition of the resource. */
export const DEFAULT_SPEC: ValkeyClusterSpec = {
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
  persistence: {
    enabled: true,
    size: '10Gi',
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
  metricsExporter: {
    enabled: false,
    image: 'oliver006/redis_exporter:latest',
    port: 9121,
    resources: { cpuRequest: '50m', memoryRequest: '64Mi', cpuLimit: '100m', memoryLimit: '128Mi' },
    extraEnv: {},
  },
  replication: { disklessSync: false, disklessSyncDelay: 5, minReplicasToWrite: 0, minReplicasMaxLag: 10 },
};

/** Defaults of parts that are absent unless a manifest names them. */
const OPTIONAL_PARTS = {
  tls: { duration: '2160h', renewBefore: '360h' },
  issuerRef: { kind: 'ClusterIssuer', group: 'cert-manager.io' },
  secretRef: { key: 'password' },
  acl: { enabled: false, adminUser: 'default' },
  configSecretRef: { key: 'acl.conf' },
} as const satisfies Json;

/** A spec as it stands in a manifest, filled in as the API server would. Its fields must have been looked at before. */
export const fillSpec = (spec: Json): ValkeyClusterSpec =>
  // The merge keeps the shape of the defaults, and what a manifest adds was checked by who read it.
  fillParts(overlay(DEFAULT_SPEC as unknown as Json, spec)) as unknown as ValkeyClusterSpec;

/** Why a filled-in spec can not be planned, naming the field; null when it can. The API server refuses the same. */
export function refuseSpec({ masters, replicasPerMaster, resources }: ValkeyClusterSpec): string | null {
  const isWhole = (value: unknown, from: number, to: number): boolean =>
    Number.isInteger(value) && Number(value) >= from && Number(value) <= to;
  if (!isWhole(masters, 3, 100)) return `spec.masters is ${String(masters)}: it must be from 3 to 100`;
  if (!isWhole(replicasPerMaster, 0, 5)) {
    return `spec.replicasPerMaster is ${String(replicasPerMaster)}: it must be from 0 to 5`;
  }
  for (const [part, values] of Object.entries(resources))
    for (const [name, value] of Object.entries(values))
      if (typeof value !== 'string' || parseQuantity(value) === null)
        return `spec.resources.${part}.${name} is ${JSON.stringify(value)}: it must be a quantity such as 1Gi`;
  const nodes = masters * (1 + replicasPerMaster);
  return nodes <= 500 ? null : `spec.masters * (1 + spec.replicasPerMaster) is ${nodes} nodes: at most 500`;
}

function overlay(base: Json | undefined, over: Json | undefined): Json | undefined {
  if (over === undefined || over === null) return base;
  if (!isObject(base) || !isObject(over)) return over;
  const keys = [...new Set([...Object.keys(base), ...Object.keys(over)])];
  return Object.fromEntries(keys.map((key) => [key, overlay(base[key], over[key])]));
}

function fillParts(value: Json | undefined): Json | undefined {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => {
      const defaults = Object.entries(OPTIONAL_PARTS).find(([name]) => name === key)?.[1];
      const filled = isObject(part) && defaults !== undefined ? overlay(defaults, part) : part;
      return [key, fillParts(filled)];
    }),
  );
}

const isObject = (value: Json | undefined): value is { readonly [key: string]: Json | undefined } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
