import { parseQuantity } from '../../shared/quantity.ts';
import { BUS_PORT, CLIENT_PORT } from './names.ts';
import type { ValkeyClusterSpec } from './observation.ts';

/** Directive and value, in the order in which they are written. */
export type Settings = readonly (readonly [directive: string, value: string])[];

/** After this silence a node counts as failed, and its replicas may stand for election. */
export const NODE_TIMEOUT_MS = 5_000;

/** Forks, replication buffers and fragmentation live beside the data, in the other quarter. */
const MEMORY_SHARE_FOR_DATA = 0.75;

/** Settings that only a restart can change. */
export function fixedSettings(spec: ValkeyClusterSpec): Settings {
  return [
    ['dir', '/data'],
    ['protected-mode', 'no'],
    ...(spec.tls === undefined ? plainPorts : tlsPorts),
    ['cluster-enabled', 'yes'],
    ['cluster-config-file', 'nodes.conf'],
    ...(spec.auth?.acl?.enabled === true ? ([['aclfile', '/acl/acl.conf']] as const) : []),
  ];
}

/** Settings that a running server takes by CONFIG SET. */
export function liveSettings(spec: ValkeyClusterSpec): Settings {
  return [
    ['cluster-node-timeout', String(NODE_TIMEOUT_MS)],
    // A lost shard must not take the slots of the others down with it.
    ['cluster-require-full-coverage', 'no'],
    ['cluster-allow-reads-when-down', 'no'],
    // A replica belongs to its shard's pods: Valkey must not move it, nor turn an emptied master into one.
    ['cluster-allow-replica-migration', 'no'],
    ['maxmemory', String(maxMemoryBytes(spec))],
    // An acknowledged write stays: a full node refuses new ones instead of dropping old ones.
    ['maxmemory-policy', 'noeviction'],
    ...persistence(spec),
    ...replication(spec),
  ];
}

/** The configuration file that all pods share; addresses and passwords are added where the pod starts. */
export const buildServerConfig = (spec: ValkeyClusterSpec): string =>
  [...fixedSettings(spec), ...liveSettings(spec)]
    .map(([directive, value]) => `${directive} ${value}\n`)
    .join('');

/** How many bytes of data a node may hold; 0 without a limit. */
export function maxMemoryBytes(spec: ValkeyClusterSpec): number {
  const limit = spec.resources.limits['memory'] ?? '0';
  const bytes = parseQuantity(limit);
  // Whoever reads a spec refuses this; a guard must never judge by a limit that nobody set.
  if (bytes === null) throw new Error(`spec.resources.limits.memory ${limit} is not a quantity`);
  return Math.floor(bytes * MEMORY_SHARE_FOR_DATA);
}

/**
 * One replica less than there are: while a planned restart takes one away, the others still suffice, so no write is
 * refused. With a single replica this is none.
 */
export const effectiveMinReplicasToWrite = (spec: ValkeyClusterSpec): number =>
  Math.max(0, Math.min(spec.replication.minReplicasToWrite, spec.replicasPerMaster - 1));

const plainPorts: Settings = [
  ['port', String(CLIENT_PORT)],
  ['cluster-port', String(BUS_PORT)],
];

const tlsPorts: Settings = [
  ['port', '0'],
  ['tls-port', String(CLIENT_PORT)],
  ['cluster-port', String(BUS_PORT)],
  ['tls-cluster', 'yes'],
  ['tls-replication', 'yes'],
  ['tls-auth-clients', 'optional'],
  ['tls-cert-file', '/tls/tls.crt'],
  ['tls-key-file', '/tls/tls.key'],
  ['tls-ca-cert-file', '/tls/ca.crt'],
];

function persistence(spec: ValkeyClusterSpec): Settings {
  const { enabled, aof, rdb } = spec.persistence;
  const rules = enabled && rdb.enabled ? rdb.saveRules : [];
  return [
    ['appendonly', enabled && aof.enabled ? 'yes' : 'no'],
    ['appendfsync', aof.fsync],
    ['save', rules.length === 0 ? '""' : rules.join(' ')],
  ];
}

function replication(spec: ValkeyClusterSpec): Settings {
  const { disklessSync, disklessSyncDelay, minReplicasMaxLag } = spec.replication;
  return [
    ['repl-diskless-sync', disklessSync ? 'yes' : 'no'],
    // The delay gathers several replicas for one transfer. A sync by disk has none, and shares its file anyway.
    ['repl-diskless-sync-delay', disklessSync ? String(disklessSyncDelay) : '0'],
    ['min-replicas-to-write', String(effectiveMinReplicasToWrite(spec))],
    ['min-replicas-max-lag', String(minReplicasMaxLag)],
  ];
}
