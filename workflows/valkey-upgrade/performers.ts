import { failure } from '../shared/failures.ts';
import type { Performers } from '../shared/operation.ts';
import type { Facts } from '../shared/plan.ts';
import { buildAccess, serversOf } from '../valkey-cluster/domain/access.ts';
import type { ValkeyCommand } from '../valkey-cluster/domain/commands.ts';
import type { ValkeyNode, ValkeyObservation } from '../valkey-cluster/domain/observation.ts';
import { ordinalOf } from '../valkey-cluster/domain/topology.ts';
import {
  identityOf,
  masterOf,
  objectOf,
  podsOfShards,
  refuseServing,
  serverOf,
} from '../valkey-cluster/performers.ts';
import type { ShardOrder, ShardTypes } from './contract.ts';
import { selectCandidate } from './domain/candidate.ts';
import { tagOf } from './domain/resource.ts';
import { buildUpgradedSet } from './domain/shard-set.ts';
import { forget, forgetLost } from './forgetting.ts';
import { within, type ShardRun } from './limits.ts';

/** A manual failover is given up by Valkey after 5 s; it is asked for again until this time is over. */
const HANDOVER_SECONDS = 60;
const MANAGER = 'keelson';
/** By which Kubernetes names the pod of a StatefulSet. */
const POD_LABEL = 'statefulset.kubernetes.io/pod-name';

/** The change with which a pod without a volume is spared as long as its data is nowhere else. */
const SPARES_ONLY_COPIES = 'valkey-upgrade-spares-only-copies';

type Kinds = Exclude<
  ValkeyCommand['kind'],
  | 'AssignSlots'
  | 'MigrateSlots'
  | 'ForgetNode'
  | 'RemoveShard'
  | 'VerifyHealth'
  | 'AddPassword'
  | 'DropPassword'
  | 'ApplyAcl'
>;

/** What a handover tells of itself. */
export interface HandedOver {
  readonly to: string;
  readonly why: string;
  readonly gapMs: number;
}

/** Who writes down what is worth telling of a shard. */
export interface ShardScribe {
  handedOver(of: HandedOver): void;
  /** For how long its pods have been waited for, or were. */
  awaitsPods(sinceMs: number, elapsedMs: number): void;
}

/** How the steps of one shard become activities. Each looks at the world first: what it finds done is left alone. */
export const shardPerformersOf = (
  run: ShardRun,
  order: ShardOrder,
  scribe: ShardScribe,
): Performers<ShardTypes, Kinds> => ({
  CreateShard: ({ pods }, summary) => applySet(run, order, pods, summary),

  async AwaitPods({ pods }, summary) {
    await awaitPods(run, order, scribe, pods, summary);
  },

  async MeetNode({ shards }, summary) {
    const observed = await run.observe();
    const master = masterOf(observed, order.shard);
    const others = observed.nodes.filter((node) => shards.includes(node.shard) && node.id !== master.id);
    await join(run, order, others, master, summary);
  },

  async AttachReplica({ shard }, summary) {
    // The introduction has looked, right before this.
    const { observed } = run;
    const master = masterOf(observed, shard);
    const others = observed.nodes.filter((node) => node.shard === shard && node.id !== master.id);
    await awaitSync(run, order, others, master, summary);
    return { replicas: others.length };
  },

  async RestartPod({ pod: name, fresh }, summary) {
    const before = await run.observe();
    const { pods, owned, cluster } = before;
    const claim = owned[`PersistentVolumeClaim/data-${name}`];
    const old = before.nodes.find((node) => node.pod === name);
    refuseMaster(before, order.shard, name);
    if (fresh === true || !cluster.spec.persistence.enabled)
      refuseOnlyCopy(run, before, order.shard, name, fresh === true);
    await run.port.wait(summary).deleteKubernetesObjects({
      objects: [
        ...(fresh === true && claim !== undefined
          ? [objectOf(cluster.namespace, 'PersistentVolumeClaim', `data-${name}`, claim)]
          : []),
        ...pods
          .filter((pod) => pod.name === name)
          .map((pod) => objectOf(cluster.namespace, 'Pod', name, pod.uid)),
      ],
    });
    const set = before.shards.find((one) => one.shard === order.shard);
    const count = set?.replicas ?? order.pods;
    await awaitPods(run, order, scribe, count, `${summary} (Ready again)`, name);
    const known = await run.observe();
    const node = known.nodes.find((one) => one.pod === name);
    if (node === undefined) throw failure('ValkeyPodReplaced', `${name} does not answer any more`);
    await join(run, order, [node], masterOf(known, order.shard), `${summary} (known and in sync again)`);
    const was = old === undefined ? null : { id: old.id, fresh: fresh === true };
    await forgetLost(run, known, summary, was);
    return { version: node.version ?? null };
  },

  async HandOver({ shard, to }, summary): Promise<Facts> {
    const observed = await run.observe();
    const master = masterOf(observed, shard);
    const heirs = eligible(observed, order, master);
    const isPlanned = (node: ValkeyNode): boolean => node.pod === to;
    const chosen = selectCandidate(heirs, master);
    const node = chosen?.node ?? observed.nodes.find(isPlanned);
    if (node === undefined) throw failure('ValkeyPodReplaced', `${to} is not there any more`);
    if (master.pod === to || node.id === master.id) return { to: master.pod, gapMs: 0 };
    const asked = observed.nodes.filter((one) => one.ready && (one.shard === shard || one.slots.length > 0));
    const { gapMs, epoch } = await within(run, HANDOVER_SECONDS, `the handover to ${node.pod}`, () =>
      run.port.wait(`${summary} (${node.pod})`).handOverValkeyMaster({
        access: buildAccess(observed.cluster),
        server: serverOf(observed, node),
        servers: asked.map((one) => serverOf(observed, one)),
      }),
    );
    const why = chosen?.why ?? 'as planned';
    scribe.handedOver({ to: node.pod, why, gapMs });
    return { to: node.pod, why, gapMs, epoch };
  },

  async Snapshot({ pod }, summary) {
    const observed = await run.observe();
    const node = observed.nodes.find((one) => one.pod === pod);
    if (node === undefined) throw failure('ValkeyPodReplaced', `${pod} is not there any more`);
    const server = serverOf(observed, node);
    const access = buildAccess(observed.cluster);
    return within(run, order.limits.replicationSyncTimeoutSeconds, `the snapshot of ${pod}`, () =>
      run.port.wait(summary).snapshotValkeyServer({ access, server }),
    );
  },

  async RemoveReplica({ shard, pods }, summary) {
    const observed = await run.observe();
    const surplus = observed.pods.filter(
      (pod) => pod.shard === shard && (ordinalOf({ pod: pod.name, shard }) ?? 0) >= pods,
    );
    const nodes = observed.nodes.filter((node) => surplus.some((pod) => pod.name === node.pod));
    refuseServing(nodes);
    await forget(
      run,
      observed,
      nodes.map((node) => node.id),
      summary,
    );
    await applySet(run, order, pods, `${summary} (StatefulSet)`);
    const objects = surplus.map(({ name, uid }) => objectOf(observed.cluster.namespace, 'Pod', name, uid));
    return run.port.wait(`${summary} (pods)`).deleteKubernetesObjects({ objects });
  },
});

/** Waits, by link and offsets, until the replicas have all that their master had when it was asked. */
export async function awaitSync(
  run: ShardRun,
  order: ShardOrder,
  replicas: readonly ValkeyNode[],
  master: ValkeyNode,
  summary: string,
): Promise<void> {
  const names = replicas.map((node) => node.pod).join(', ');
  await within(run, order.limits.replicationSyncTimeoutSeconds, `the sync of ${names}`, () =>
    Promise.all(attach(run, replicas, master, summary)),
  );
}

/**
 * Introduces nodes to all others while they begin to follow their master, which they need not be known for by anybody
 * else. A node that is nobody's replica yet is a master without slots, for which the introduction would wait in vain.
 */
async function join(
  run: ShardRun,
  order: ShardOrder,
  nodes: readonly ValkeyNode[],
  master: ValkeyNode,
  summary: string,
): Promise<void> {
  const { cluster, pods } = run.observed;
  const servers = serversOf(pods.filter((pod) => pod.ready));
  const replicas = nodes.filter((node) => node.id !== master.id);
  const what = `the introduction and sync of ${nodes.map((node) => node.pod).join(', ')}`;
  await within(run, order.limits.replicationSyncTimeoutSeconds, what, () =>
    Promise.all<unknown>([
      run.port.wait(summary).meetValkeyNodes({ access: buildAccess(cluster), servers }),
      ...attach(run, replicas, master, summary),
    ]),
  );
}

/** Each replica begins to follow the master, and has caught up with it when it ends. */
const attach = (
  { port, observed }: ShardRun,
  replicas: readonly ValkeyNode[],
  master: ValkeyNode,
  summary: string,
): readonly Promise<unknown>[] =>
  replicas.map((node) =>
    port.wait(`${summary} (${node.pod})`).attachValkeyReplica({
      access: buildAccess(observed.cluster),
      server: serverOf(observed, node),
      masterId: master.id,
    }),
  );

/** Writes the StatefulSet of the shard with the version that is the upgrade's to set. */
export async function applySet(
  run: ShardRun,
  order: ShardOrder,
  pods: number,
  summary: string,
  keepSnapshot = run.input.plan.steps.some((step) => step.kind === 'Snapshot'),
): Promise<void> {
  const { observed } = run;
  const sets = observed.shards.map((set) => [`StatefulSet/${set.name}`, set.uid] as const);
  await run.port.act(summary).applyKubernetesObjects({
    owner: identityOf(observed),
    manager: MANAGER,
    objects: [buildUpgradedSet(order.cluster, order.shard, order.tag, pods, keepSnapshot)],
    known: Object.fromEntries(sets),
  });
}

/** Waits until the pods of the shard are Ready, but for those that can not be before they are restarted themselves. */
async function awaitPods(
  run: ShardRun,
  order: ShardOrder,
  scribe: ShardScribe,
  count: number,
  summary: string,
  restarted: string | null = null,
): Promise<void> {
  const { namespace, name } = order.cluster;
  const broken = run.observed.pods.filter(
    (pod) =>
      pod.shard === order.shard &&
      !pod.ready &&
      pod.name !== restarted &&
      tagOf(pod.image ?? '') !== order.tag,
  );
  const others =
    broken.length === 0 ? '' : `,${POD_LABEL} notin (${broken.map((pod) => pod.name).join(',')})`;
  const selector = `${podsOfShards(name, [order.shard])}${others}`;
  const sinceMs = run.port.nowMs();
  scribe.awaitsPods(sinceMs, 0);
  await within(
    run,
    order.limits.podReadyTimeoutSeconds,
    `${count - broken.length} Ready pods of shard ${order.shard}`,
    () => run.port.wait(summary).awaitKubernetesPods({ namespace, selector, count: count - broken.length }),
  );
  scribe.awaitsPods(sinceMs, run.port.nowMs() - sinceMs);
}

/** Replicas that follow the master, run the version that is wanted, and stay; one that only helps out where there is none. */
function eligible(
  { nodes, pods }: ValkeyObservation,
  { shard, tag, pods: staying }: ShardOrder,
  master: ValkeyNode,
): readonly ValkeyNode[] {
  const runs = (node: ValkeyNode): boolean => {
    const image = pods.find((pod) => pod.name === node.pod)?.image ?? '';
    return tagOf(image) === tag;
  };
  const following = nodes.filter(
    (node) =>
      node.shard === shard &&
      node.masterId === master.id &&
      node.ready &&
      node.linkUp !== false &&
      runs(node),
  );
  const stay = following.filter((node) => (ordinalOf(node) ?? 0) < staying);
  return stay.length > 0 ? stay : following;
}

/** Whatever was planned, a node that comes back empty goes only while another one serves what it has. */
function refuseOnlyCopy(
  { port }: ShardRun,
  { nodes }: ValkeyObservation,
  shard: number,
  pod: string,
  fresh: boolean,
): void {
  const others = nodes.filter((node) => node.shard === shard && node.pod !== pod && node.slots.length > 0);
  if (others.some((node) => node.ready)) return;
  if ((fresh && others.length === 0) || port.knows(SPARES_ONLY_COPIES))
    throw failure(
      'ValkeySlotBusy',
      `nobody serves shard ${shard} without ${pod}, which would come back empty`,
    );
}

/** Whatever was planned, a node that serves slots is not restarted while another could. */
function refuseMaster({ nodes }: ValkeyObservation, shard: number, pod: string): void {
  const own = nodes.filter((node) => node.shard === shard);
  if (own.length > 1) refuseServing(own.filter((node) => node.pod === pod));
}
