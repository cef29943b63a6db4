import type { ResourceRef } from '../../workflows/shared/messages.ts';
import type {
  ValkeyClusterResource,
  ValkeyObservation,
  ValkeyPod,
  ValkeyShardSet,
} from '../../workflows/valkey-cluster/domain/observation.ts';
import type { CustomObject, KubernetesObject, Pod, StatefulSet } from '../kubernetes/objects.ts';
import { isReady, waitingWords } from '../kubernetes/pod-state.ts';
import type { ValkeyClients, ValkeyNaming } from './access.ts';
import { askServers } from './ask-servers.ts';
import { findMissing } from './dependencies.ts';
import { observeSecrets } from './observe-secrets.ts';
import { createPlaceReader } from './places.ts';
import { parseValkeyCluster } from './resource.ts';
import { readStuck } from './stuck-pods.ts';
import { buildTopology } from './topology.ts';
import { listUpgrades } from './upgrades.ts';
import { createZoneReader } from './zones.ts';

/** Kinds beside StatefulSets and pods that a cluster has. */
const OWNED_KINDS = [
  { apiVersion: 'v1', kind: 'Service' },
  { apiVersion: 'v1', kind: 'ConfigMap' },
  { apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
  { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' },
] as const;
const CERTIFICATE = { apiVersion: 'cert-manager.io/v1', kind: 'Certificate' } as const;

/** Gathers everything about one cluster, as much of it as possible at the same time. */
export function createObserve(
  clients: ValkeyClients,
): (ref: ResourceRef) => Promise<ValkeyObservation | null> {
  const { kubernetes, naming } = clients;
  const zoneOf = createZoneReader(kubernetes);
  const placesFor = createPlaceReader(kubernetes);

  return async (ref) => {
    const name = { apiVersion: naming.apiVersion, kind: naming.kind, ...ref };
    const object = await kubernetes.read<CustomObject>(name);
    if (object === null) return null;
    const cluster = parseValkeyCluster(object, ref.namespace);
    const selection = { namespace: ref.namespace, labelSelector: `${naming.clusterLabel}=${ref.name}` };
    const [sets, pods, missing, owned, upgrades, places] = await Promise.all([
      kubernetes.list<StatefulSet>({ apiVersion: 'apps/v1', kind: 'StatefulSet', ...selection }),
      kubernetes.list<Pod>({ apiVersion: 'v1', kind: 'Pod', ...selection }),
      findMissing(clients, cluster),
      listOwned(clients, cluster, selection),
      listUpgrades(clients, ref),
      placesFor(cluster.spec),
    ]);
    const zones = await zoneOf(pods.items.flatMap((pod) => pod.spec.nodeName ?? []));
    const seen = await Promise.all(
      pods.items.map(async (pod) => ({
        ...podFacts(pod, naming, zones),
        stuck: await readStuck(kubernetes, pod, Date.now()),
      })),
    );
    seen.sort(byName);
    const access = naming.accessOf(cluster);
    const asked = await askServers(clients, access, seen);
    const secrets = await observeSecrets(clients, access, asked);
    const observed = {
      cluster,
      shards: sets.items
        .filter((set) => isOwned(set, cluster))
        .map((set) => shardSet(set, naming))
        .sort(byShard),
      ...buildTopology(seen, asked.answers),
      missing,
      owned,
      upgrades,
      ...(secrets === null ? {} : { secrets }),
      ...(places === undefined ? {} : { places }),
    };
    return { ...observed, intended: naming.intentOf(observed) };
  };
}

async function listOwned(
  { kubernetes }: ValkeyClients,
  cluster: ValkeyClusterResource,
  selection: { readonly namespace: string; readonly labelSelector: string },
): Promise<Record<string, string>> {
  const certificates =
    cluster.spec.tls?.issuerRef === undefined
      ? false
      : await kubernetes.has(CERTIFICATE.apiVersion, CERTIFICATE.kind);
  const kinds = certificates ? [...OWNED_KINDS, CERTIFICATE] : OWNED_KINDS;
  const lists = await Promise.all(
    kinds.map(async ({ apiVersion, kind }) => {
      const { items } = await kubernetes.list({ apiVersion, kind, ...selection });
      // A claim outlives its set by design, so its label is what makes it ours.
      const ours = items.filter((item) => kind === 'PersistentVolumeClaim' || isOwned(item, cluster));
      return ours.map((item): [string, string] => [`${kind}/${item.metadata.name}`, item.metadata.uid]);
    }),
  );
  return Object.fromEntries(lists.flat());
}

const isOwned = (object: KubernetesObject, cluster: ValkeyClusterResource): boolean =>
  object.metadata.ownerReferences?.some((reference) => reference.uid === cluster.uid) ?? false;

/** The image of the server. Whoever puts containers of their own into pods may put them first. */
const imageOf = ({ containers }: Pod['spec'], { container }: ValkeyNaming): string | undefined =>
  (containers.find(({ name }) => name === container) ?? containers[0])?.image;

const shardSet = (set: StatefulSet, naming: ValkeyNaming): ValkeyShardSet => ({
  shard: shardOf(set, naming.shardLabel),
  name: set.metadata.name,
  uid: set.metadata.uid,
  replicas: set.spec.replicas ?? 1,
  image: imageOf(set.spec.template.spec, naming) ?? '',
  appliedHash: set.metadata.annotations?.[naming.appliedAnnotation] ?? null,
});

const podFacts = (
  pod: Pod,
  naming: ValkeyNaming,
  zones: Readonly<Record<string, string>>,
): Omit<ValkeyPod, 'nodeId'> => ({
  name: pod.metadata.name,
  uid: pod.metadata.uid,
  shard: shardOf(pod, naming.shardLabel),
  ip: pod.status?.podIP ?? null,
  node: pod.spec.nodeName ?? null,
  zone: zones[pod.spec.nodeName ?? ''] ?? null,
  phase: pod.status?.phase ?? 'Pending',
  ready: isReady(pod) && pod.metadata.deletionTimestamp === undefined,
  terminating: pod.metadata.deletionTimestamp !== undefined,
  image: imageOf(pod.spec, naming) ?? null,
  templateHash: pod.metadata.annotations?.[naming.templateAnnotation] ?? null,
  waiting: waitingWords(pod),
});

const shardOf = (object: KubernetesObject, shardLabel: string): number =>
  Number(object.metadata.labels?.[shardLabel] ?? -1);

const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : 1;
const byShard = (a: { readonly shard: number }, b: { readonly shard: number }): number => a.shard - b.shard;
