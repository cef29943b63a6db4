import { withOwnTag } from '../valkey-upgrade/domain/shard-set.ts';
import type { ObjectIdentity } from '../../activities/kubernetes/contract.ts';
import { failure } from '../shared/failures.ts';
import { endOrLetGo } from '../shared/stopping.ts';
import type { OperationRun, Performers } from '../shared/operation.ts';
import type { Facts } from '../shared/plan.ts';
import type { ValkeyTypes } from './contract.ts';
import { buildAccess, serversOf } from './domain/access.ts';
import type { ValkeyPlan } from './domain/commands.ts';
import { waitingPod } from './domain/conditions.ts';
import { buildShardSet, buildSharedObjects, hashesOf, type ValkeyManifest } from './domain/manifests.ts';
import { API_VERSION, CLUSTER_LABEL, KIND, SHARD_LABEL } from './domain/names.ts';
import type { ValkeyNode, ValkeyObservation, ValkeyPod, ValkeyShardSet } from './domain/observation.ts';
import { refusePhaseEvent, phaseFacts } from './domain/phase-guards.ts';
import type { Event } from './domain/phases.ts';
import { describeHelp, heirOf, stuckPods } from './domain/rescue.ts';
import { selectMasters } from './domain/selection.ts';
import { liveSettings } from './domain/server-config.ts';

export type ValkeyRun = OperationRun<ValkeyTypes>;

/** The field manager under which everything that a cluster is made of is applied. */
const MANAGER = 'keelson';

/** How each command becomes activities. The newest observation of the run says where the servers are. */
export const performersOf = (
  run: ValkeyRun,
  plan: ValkeyPlan = run.input.plan,
): Performers<
  ValkeyTypes,
  | 'CreateShard'
  | 'AwaitPods'
  | 'MeetNode'
  | 'AssignSlots'
  | 'AttachReplica'
  | 'ForgetNode'
  | 'RemoveShard'
  | 'RestartPod'
> => ({
  async CreateShard({ shard, pods }, summary) {
    await configureShard(run, shard, `${summary} (settings)`);
    const set = buildShardSet(withOwnTag(run.observed, shard), shard);
    await applyObjects(run, [{ ...set, spec: { ...Object(set['spec']), replicas: pods } }], summary);
  },

  AwaitPods: (step, summary) => awaitReady(run, selectAwaited(run.observed, plan, step), summary),

  async MeetNode(_, summary) {
    const { cluster, pods } = run.observed;
    const servers = serversOf(pods.filter((pod) => pod.ready));
    await run.port.wait(summary).meetValkeyNodes({ access: buildAccess(cluster), servers });
    return { nodes: servers.length };
  },

  async AssignSlots({ shard, ranges }, summary) {
    const master = masterOf(run.observed, shard);
    const access = buildAccess(run.observed.cluster);
    return run.port
      .act(summary)
      .assignValkeySlots({ access, server: serverOf(run.observed, master), ranges });
  },

  async AttachReplica({ shard }, summary): Promise<Facts> {
    const { observed } = run;
    if (run.port.knows(SPARES_HEIRS)) refuseHeir(observed, shard);
    const master = masterOf(observed, shard);
    const others = observed.nodes.filter((node) => node.shard === shard && node.id !== master.id);
    const linked = await Promise.all(
      others.map((node) =>
        run.port.wait(`${summary} (${node.pod})`).attachValkeyReplica({
          access: buildAccess(observed.cluster),
          server: serverOf(observed, node),
          masterId: master.id,
        }),
      ),
    );
    return { replicas: linked.length, linkSeconds: Math.max(0, ...linked.map((one) => one.linkSeconds)) };
  },

  async ForgetNode({ shard, nodes: planned }, summary) {
    const { cluster, pods } = run.observed;
    const nodes = shard === null ? stillAstray(run.observed, planned) : planned;
    if (nodes.length === 0) return { forgotten: 0 };
    const leaving = new Set(plan.steps.flatMap((step) => (step.kind === 'ForgetNode' ? step.nodes : [])));
    const members = pods.filter((pod) => pod.nodeId !== null);
    return run.port.wait(summary).forgetValkeyNodes({
      access: buildAccess(cluster),
      servers: serversOf(members.filter((pod) => !leaving.has(pod.nodeId ?? ''))),
      leaving: serversOf(members.filter((pod) => nodes.includes(pod.nodeId ?? ''))),
      nodeIds: nodes,
    });
  },

  async RemoveShard({ shard }, summary) {
    const { cluster, shards, pods, nodes } = run.observed;
    if (!cluster.deleting) refuseServing(nodes.filter((node) => node.shard === shard));
    const fenced = (
      kind: string,
      of: readonly { shard: number; name: string; uid: string }[],
    ): ObjectIdentity[] =>
      of
        .filter((one) => one.shard === shard)
        .map(({ name, uid }) => objectOf(cluster.namespace, kind, name, uid));
    // The StatefulSet first: pods that it no longer wants, it does not bring back.
    await run.port.wait(summary).deleteKubernetesObjects({ objects: fenced('StatefulSet', shards) });
    const leaving = fenced('Pod', pods);
    await run.port.wait(`${summary} (pods)`).deleteKubernetesObjects({ objects: leaving });
    return { pods: leaving.length };
  },

  async RestartPod({ pod: name }, summary) {
    const { cluster, pods } = run.observed;
    const leaving = pods.filter((pod) => pod.name === name);
    const objects = leaving.map((pod) => objectOf(cluster.namespace, 'Pod', name, pod.uid));
    const force = stuckPods(leaving).length > 0 ? { gracePeriodSeconds: 0 } : {};
    return run.port.wait(summary).deleteKubernetesObjects({ objects, ...force });
  },
});

/** The change with which running servers get settings that need no restart. */
const SETS_SETTINGS = 'valkey-sets-settings';

/** Before its StatefulSet says that the shard follows the spec, its running servers do, as far as they can without a restart. */
async function configureShard(run: ValkeyRun, shard: number, summary: string): Promise<void> {
  const { cluster, shards, pods, intended = hashesOf(cluster) } = run.observed;
  const set = shards.find((one) => one.shard === shard);
  const servers = serversOf(pods.filter((pod) => pod.shard === shard && pod.ready));
  if (set === undefined || set.appliedHash === intended.appliedHash || servers.length === 0) return;
  if (!run.port.knows(SETS_SETTINGS)) return;
  const settings = liveSettings(cluster.spec);
  await run.port.act(summary).configureValkeyServers({ access: buildAccess(cluster), servers, settings });
}

type Awaited = Parameters<ValkeyTypes['activities']['awaitKubernetesPods']>[0];

/**
 * The pods that a step waits for. Pods go one by one, and the plan may have seen the first of them only: whoever misses
 * the introduction stays apart, so all that are to stay are waited for.
 */
export function selectAwaited(
  observed: ValkeyObservation,
  plan: ValkeyPlan,
  { shards, pods }: { readonly shards: readonly number[]; readonly pods: number },
): Awaited {
  const { namespace, name } = observed.cluster;
  const beside = setsBeside(observed, plan, shards);
  const selector = podsOfShards(name, [...shards, ...beside.map((set) => set.shard)]);
  return { namespace, selector, count: beside.reduce((sum, set) => sum + set.replicas, pods) };
}

/** Waits until pods are Ready, and says on the resource what holds them up. */
export const awaitReady = (run: ValkeyRun, pods: Awaited, summary: string): Promise<void> =>
  telling(run, () => run.port.wait(summary).awaitKubernetesPods(pods));

/** StatefulSets beside those of some shards that are to stay as they are, with no pod too many. */
function setsBeside(
  { cluster, shards: sets }: ValkeyObservation,
  { steps }: ValkeyPlan,
  shards: readonly number[],
): readonly ValkeyShardSet[] {
  const leaves = (shard: number): boolean =>
    steps.some((step) => step.kind === 'RemoveShard' && step.shard === shard);
  return sets.filter(
    ({ shard, replicas }) =>
      !shards.includes(shard) && !leaves(shard) && replicas === 1 + cluster.spec.replicasPerMaster,
  );
}

/** Selects the pods of some shards of a cluster. */
export const podsOfShards = (cluster: string, shards: readonly number[]): string =>
  `${CLUSTER_LABEL}=${cluster},${SHARD_LABEL} in (${shards.join(',')})`;

const LOOK_MS = { first: 10_000, last: 300_000 } as const;

/** Waits, and says on the resource what holds the wait up: soon for the first time, then less and less often. */
async function telling(run: ValkeyRun, wait: () => Promise<unknown>): Promise<void> {
  let ended = false;
  let help: string | null = null;
  const waited = endOrLetGo(run.port, wait, () => help !== null);
  const settled = waited.then(
    () => void (ended = true),
    () => void (ended = true),
  );
  try {
    for (let lookMs: number = LOOK_MS.first; ; lookMs = Math.min(lookMs * 2, LOOK_MS.last)) {
      if (await run.port.until(() => ended, { summary: 'what holds the pods up', timeoutMs: lookMs })) break;
      const observed = await run.observe();
      const held = waitingPod(observed);
      if (held !== null) run.tell(held.message);
      help = describeHelp(observed);
      if (help !== null) break;
    }
  } finally {
    // Whatever ended the looking, the activity's own end is awaited, so that none runs on unseen.
    await settled;
  }
  await waited;
  // What only a person can decide is planned, and waits for their word; this wait would never end.
  if (help !== null) throw failure('PodsNotReady', help);
}

const API_VERSIONS: Readonly<Record<string, string>> = {
  StatefulSet: 'apps/v1',
  PodDisruptionBudget: 'policy/v1',
  Certificate: 'cert-manager.io/v1',
};

/** An entry of `owned` as the object that it names. */
export function ownedObject(namespace: string, key: string, uid: string): ObjectIdentity {
  const [kind = '', name = ''] = key.split('/');
  return objectOf(namespace, kind, name, uid);
}

/** One of the cluster's objects, fenced by its uid. */
export const objectOf = (namespace: string, kind: string, name: string, uid: string): ObjectIdentity => ({
  apiVersion: API_VERSIONS[kind] ?? 'v1',
  kind,
  namespace,
  name,
  uid,
});

/** The change with which the nodes to verify are looked for again. */
const LOOKS_FIRST = 'valkey-looks-before-verifying';

/** The change with which a member that nobody planned to forget is not waited for. */
const PLANS_AGAIN = 'valkey-plans-again-for-strays';

/** Waits until all nodes say that the cluster is whole, and looks for itself. */
export const verifyHealth = (run: ValkeyRun): Performers<ValkeyTypes, 'VerifyHealth'> => ({
  async VerifyHealth({ masters, replicasPerMaster }, summary) {
    // Pods that were taken away a moment ago are not to be asked.
    const { cluster, pods } = run.port.knows(LOOKS_FIRST) ? await run.observe() : run.observed;
    const servers = serversOf(pods);
    if (run.port.knows(PLANS_AGAIN)) {
      refuseStrays(run.observed);
      refuseAbsent(servers.length, masters * (1 + replicasPerMaster));
    }
    const access = buildAccess(cluster);
    const whole = await run.port
      .wait(summary)
      .awaitValkeyHealth({ access, servers, masters, replicasPerMaster });
    // What does not come about by itself is for another plan.
    if (whole.missing !== null) throw failure('ValkeyNotConverged', whole.missing);
    await run.observe();
    return { slots: whole.slots, nodes: whole.nodes };
  },
});

/** Applies what all shards share, with its full intent, and takes away what the spec no longer asks for. */
export async function applySharedObjects(run: ValkeyRun): Promise<void> {
  const { cluster, owned } = run.observed;
  const wanted = buildSharedObjects(cluster);
  await applyObjects(run, wanted, 'configuration, Services and disruption budget');
  const keys = new Set(wanted.map((one) => `${one.kind}/${one.metadata.name}`));
  const surplus = Object.entries(owned).filter(
    ([key]) => !keys.has(key) && !key.startsWith('PersistentVolumeClaim/'),
  );
  if (surplus.length === 0) return;
  const objects = surplus.map(([key, uid]) => ownedObject(cluster.namespace, key, uid));
  await run.port.wait('what the spec no longer asks for').deleteKubernetesObjects({ objects });
}

/** Goes through the phase table, and asks the specification's guard of that row first. */
export function reached(run: ValkeyRun, event: Event, message?: string): void {
  const refusal = refusePhaseEvent(run.phase, event, phaseFacts(run.observed));
  if (refusal !== null) throw failure('ValkeyNotConverged', `${event} can not be said yet: ${refusal}`);
  run.reached(event, message);
}

/** The resource itself, fenced by its uid. */
export const identityOf = ({ cluster }: ValkeyObservation): ObjectIdentity => ({
  apiVersion: API_VERSION,
  kind: KIND,
  namespace: cluster.namespace,
  name: cluster.name,
  uid: cluster.uid,
});

/** Applies objects with their full intent, as the resource's own. */
export async function applyObjects(
  run: ValkeyRun,
  objects: readonly ValkeyManifest[],
  summary: string,
): Promise<void> {
  const { observed, served } = run;
  const sets = observed.shards.map((set) => [`StatefulSet/${set.name}`, set.uid] as const);
  await run.port.act(summary).applyKubernetesObjects({
    owner: { ...identityOf(observed), generation: served.generation },
    manager: MANAGER,
    objects,
    known: { ...observed.owned, ...Object.fromEntries(sets) },
  });
}

/** Members of these that have no pod. While a pod does not say which member it is, any of them may be it, on its way back with its volume. */
const stillAstray = ({ pods, shards }: ValkeyObservation, members: readonly string[]): readonly string[] => {
  const expected = shards.reduce((sum, set) => sum + set.replicas, 0);
  const known = pods.flatMap((pod) => pod.nodeId ?? []);
  return known.length < expected ? [] : members.filter((id) => !known.includes(id));
};

/** Pods that went away a moment ago do not come back by being waited for here. */
function refuseAbsent(there: number, wanted: number): void {
  if (there < wanted)
    throw failure(
      'ValkeyPodReplaced',
      `${there} of ${wanted} servers are there: the others are to be brought back first`,
    );
}

/** A pod that came back without its data is a new member, and the old one fails for ever: only another plan forgets it. */
function refuseStrays(observed: ValkeyObservation): void {
  const silent = observed.orphans.filter((orphan) => orphan.slots.length === 0);
  const [stray] = stillAstray(
    observed,
    silent.map((orphan) => orphan.id),
  );
  if (stray !== undefined)
    throw failure('ValkeyPodReplaced', `${stray} has no pod any more: its pod came back as another node`);
}

/** Whatever was planned, a pod whose node still serves slots is not taken away. */
export function refuseServing(nodes: readonly ValkeyNode[]): void {
  const serving = nodes.find((node) => node.slots.length > 0);
  if (serving !== undefined)
    throw failure('ValkeySlotBusy', `${serving.pod} was to leave, and still serves slots`);
}

/** The change with which a shard whose master is lost waits for the election of its replica. */
const SPARES_HEIRS = 'valkey-spares-heirs';

function refuseHeir(observed: ValkeyObservation, shard: number): void {
  const heir = heirOf(observed, shard);
  if (heir !== null)
    throw failure(
      'ValkeyNotConverged',
      `${heir.pod} alone has the data of shard ${shard}: it has to be elected before anybody follows`,
    );
}

/** The node that leads a shard, or is to. */
export function masterOf(observed: ValkeyObservation, shard: number): ValkeyNode {
  const master = selectMasters(observed).get(shard);
  if (master === undefined)
    throw failure('ValkeyNotConverged', `shard ${shard} has no node that could lead it`);
  return master;
}

/** Where a node's server is, fenced by its pod. */
export function serverOf(
  observed: ValkeyObservation,
  node: ValkeyNode,
): ReturnType<typeof serversOf>[number] {
  const pod: ValkeyPod | undefined = observed.pods.find((one) => one.name === node.pod);
  const [server] = pod === undefined ? [] : serversOf([pod]);
  if (server === undefined) throw failure('ValkeyPodReplaced', `${node.pod} is not there any more`);
  return server;
}
