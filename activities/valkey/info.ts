/** `INFO` or `CLUSTER INFO` as a table; section titles are left out. */
export function parseInfo(text: string): Readonly<Record<string, string>> {
  const lines = text.split('\n').map((line) => line.trim());
  const pairs = lines.flatMap((line): [string, string][] => {
    const colon = line.indexOf(':');
    return colon < 1 || line.startsWith('#') ? [] : [[line.slice(0, colon), line.slice(colon + 1)]];
  });
  return Object.fromEntries(pairs);
}

/** What the parts of `INFO` that we read say about one server. */
export interface ServerInfo {
  readonly version: string;
  readonly usedMemory: number;
  /** 0 means without a limit. */
  readonly maxMemory: number;
  readonly keys: number;
  readonly offset: number;
  /** Null on a master, which has no link to one. */
  readonly linkUp: boolean | null;
}

/** Reads `INFO`; the version is Valkey's own, not the Redis version that it claims for old clients. */
export function parseServerInfo(text: string): ServerInfo {
  const info = parseInfo(text);
  const replica = info['role'] === 'slave' || info['role'] === 'replica';
  const offset = replica
    ? (info['slave_repl_offset'] ?? info['replica_repl_offset'])
    : info['master_repl_offset'];
  const link = info['master_link_status'] ?? info['primary_link_status'];
  return {
    version: info['valkey_version'] ?? info['redis_version'] ?? 'unknown',
    usedMemory: Number(info['used_memory'] ?? 0),
    maxMemory: Number(info['maxmemory'] ?? 0),
    keys: countKeys(info),
    offset: Number(offset ?? 0),
    linkUp: replica ? link === 'up' && info['master_sync_in_progress'] !== '1' : null,
  };
}

/** Since 9.0 a cluster may have several databases: `db0:keys=12,expires=0,avg_ttl=0`. */
function countKeys(info: Readonly<Record<string, string>>): number {
  return Object.entries(info)
    .filter(([key]) => /^db\d+$/.test(key))
    .reduce((sum, [, value]) => sum + Number(/keys=(\d+)/.exec(value)?.[1] ?? 0), 0);
}

/** What `CLUSTER INFO` says of the cluster, as one node sees it. */
export interface ClusterState {
  readonly ok: boolean;
  readonly slotsAssigned: number;
  readonly knownNodes: number;
  readonly currentEpoch: number;
}

/** Reads `CLUSTER INFO`. */
export function parseClusterState(text: string): ClusterState {
  const info = parseInfo(text);
  return {
    ok: info['cluster_state'] === 'ok',
    slotsAssigned: Number(info['cluster_slots_assigned'] ?? 0),
    knownNodes: Number(info['cluster_known_nodes'] ?? 0),
    currentEpoch: Number(info['cluster_current_epoch'] ?? 0),
  };
}
