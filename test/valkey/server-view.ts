import { Valkey } from 'iovalkey';
import type { KubernetesObject } from '../../deploy/local/kubernetes/api.ts';
import { CLIENT_PORT } from '../../workflows/valkey-cluster/domain/names.ts';
import type { ClusterWorld } from './cluster-world.ts';

/** What one Valkey server says of the cluster, asked directly. */
export interface ServerView {
  readonly pod: string;
  readonly ip: string;
  readonly state: string;
  readonly slotsOk: number;
  readonly knownNodes: number;
  readonly size: number;
  readonly role: 'master' | 'slave';
  readonly linkUp: boolean;
  /** Slots by their owner's id, as this server sees it. */
  readonly owners: Readonly<Record<string, number>>;
}

/** Connects to one pod's server as a user would. */
export function connect(world: ClusterWorld, ip: string): Valkey {
  const client = new Valkey({
    host: ip,
    port: CLIENT_PORT,
    password: world.password,
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: 2_000,
    commandTimeout: 10_000,
    ...(world.tls === null ? {} : { tls: world.tls }),
  });
  client.on('error', () => {}); // The rejected command tells.
  return client;
}

export const ipOf = (pod: KubernetesObject): string | null => {
  const { podIP } = (pod['status'] ?? {}) as { readonly podIP?: string };
  return podIP ?? null;
};

/** Whether the kubelet calls a pod ready. */
export function isReady(pod: KubernetesObject): boolean {
  const { conditions = [] } = (pod['status'] ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

/** Says something to every server whose pod is ready, each on a connection of its own. */
export async function tellServers<T>(
  world: ClusterWorld,
  say: (client: Valkey, pod: string) => Promise<T>,
): Promise<readonly T[]> {
  const pods = (await world.list('pods')).filter(isReady);
  return Promise.all(
    pods.map(async (pod) => {
      const client = connect(world, ipOf(pod) ?? '');
      try {
        await client.connect();
        return await say(client, pod.metadata.name);
      } finally {
        client.disconnect();
      }
    }),
  );
}

/** Asks every server of the cluster. */
export async function viewServers(world: ClusterWorld): Promise<readonly ServerView[]> {
  const pods = await world.list('pods');
  return Promise.all(
    pods.map(async (pod) => {
      const ip = ipOf(pod);
      if (ip === null) throw new Error(`${pod.metadata.name} has no address`);
      const client = connect(world, ip);
      try {
        await client.connect();
        const [info, nodes, replication] = await Promise.all([
          client.cluster('INFO'),
          client.cluster('NODES'),
          client.info('replication'),
        ]);
        return parseView(pod.metadata.name, ip, info, String(nodes), replication);
      } finally {
        client.disconnect();
      }
    }),
  );
}

function parseView(pod: string, ip: string, info: string, nodes: string, replication: string): ServerView {
  const field = (text: string, name: string): string =>
    new RegExp(`^${name}:(.*)$`, 'm').exec(text)?.[1]?.trim() ?? '';
  const role = field(replication, 'role') === 'master' ? 'master' : 'slave';
  return {
    pod,
    ip,
    state: field(info, 'cluster_state'),
    slotsOk: Number(field(info, 'cluster_slots_ok')),
    knownNodes: Number(field(info, 'cluster_known_nodes')),
    size: Number(field(info, 'cluster_size')),
    role,
    linkUp: role === 'master' || field(replication, 'master_link_status') === 'up',
    owners: ownersOf(nodes),
  };
}

function ownersOf(nodes: string): Readonly<Record<string, number>> {
  const owners: Record<string, number> = {};
  for (const line of nodes.trim().split('\n')) {
    const [id = '', , , , , , , , ...ranges] = line.trim().split(' ');
    const count = ranges
      .filter((range) => !range.startsWith('['))
      .reduce((sum, range) => {
        const [first = 0, last = first] = range.split('-').map(Number);
        return sum + last - first + 1;
      }, 0);
    if (count > 0) owners[id] = count;
  }
  return owners;
}

/** What is wrong with a cluster that should be whole, in words; null when nothing is. */
export async function wrongWith(
  world: ClusterWorld,
  masters: number,
  replicasPerMaster: number,
): Promise<string | null> {
  const views = await viewServers(world);
  const nodes = masters * (1 + replicasPerMaster);
  if (views.length !== nodes) return `${views.length} servers instead of ${nodes}`;
  for (const view of views) {
    if (view.state !== 'ok') return `${view.pod} says cluster_state:${view.state}`;
    if (view.slotsOk !== 16_384) return `${view.pod} sees ${view.slotsOk} slots`;
    if (view.knownNodes !== nodes) return `${view.pod} knows ${view.knownNodes} nodes`;
    if (view.size !== masters) return `${view.pod} counts ${view.size} masters`;
    if (!view.linkUp) return `${view.pod} has no link to its master`;
    if (JSON.stringify(sorted(view.owners)) !== JSON.stringify(sorted(views[0]?.owners ?? {})))
      return `${view.pod} sees other owners of slots`;
  }
  const replicas = views.filter((view) => view.role === 'slave').length;
  return replicas === masters * replicasPerMaster
    ? null
    : `${replicas} replicas instead of ${masters * replicasPerMaster}`;
}

const sorted = (owners: Readonly<Record<string, number>>): readonly [string, number][] =>
  Object.entries(owners).sort(([a], [b]) => (a < b ? -1 : 1));
