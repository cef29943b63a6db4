import type { ValkeyPod } from './observation.ts';
import type { PlanContext } from './plan.ts';
import { stuckPods, type StuckPod } from './rescue.ts';
import type { Draft, Stage } from './stages.ts';
import type { ShardView } from './topology.ts';

/** Shards with a pod that was made from another template than the spec gives now. */
export const staleShards = (context: PlanContext): readonly number[] =>
  context.staying.filter((view) => stalePods(context, view).length > 0).map((view) => view.shard);

/**
 * Pods of an older template that can not start are replaced first: no StatefulSet would do it, and waiting for them
 * would never end. While a cluster is being created, all of them are, because none has data yet.
 */
export const draftReplacements = (context: PlanContext): Stage => [
  ...draftForced(context),
  ...draftStale(context),
];

/** Only whoever has lost the machine knows whether the pod still runs there, unless Kubernetes itself knows. */
const draftForced = (context: PlanContext): Stage =>
  stuckPods(context.topology.pods).map(({ pod, node, why }) => ({
    kind: 'RestartPod',
    shard: pod.shard,
    pod: pod.name,
    irreversible: why === 'lost',
    reason: `${pod.name} is Terminating on ${node}, which ${STUCK[why]}: it is removed by force`,
  }));

const STUCK: Readonly<Record<StuckPod['why'], string>> = {
  gone: 'is gone',
  'out-of-service': 'is out of service',
  lost: 'does not answer and may still run it',
};

const draftStale = (context: PlanContext): Stage =>
  context.staying
    .flatMap((view) => stalePods(context, view))
    .filter((pod) => isReplaced(context, pod))
    .map((pod) => ({
      kind: 'RestartPod',
      shard: pod.shard,
      pod: pod.name,
      reason: `${pod.name} was made from an older spec${pod.waiting === null ? '' : ` and does not start (${pod.waiting})`}`,
    }));

/** One pod at a time, replicas first; a master hands over before its own pod goes. */
export const draftRestarts = (context: PlanContext): readonly Stage[] =>
  context.staying.flatMap((view) => draftShard(context, view)).map((draft) => [draft]);

const isReplaced = (context: PlanContext, pod: ValkeyPod): boolean =>
  !context.formed || pod.phase !== 'Running' || pod.waiting !== null;

function draftShard(context: PlanContext, view: ShardView): readonly Draft[] {
  const stale = stalePods(context, view).filter((pod) => !isReplaced(context, pod));
  const master = view.master?.pod;
  const replicas = stale.filter((pod) => pod.name !== master);
  const drafts = replicas.map((pod) => restart(pod, `a replica of shard ${view.shard}`));
  const last = stale.find((pod) => pod.name === master);
  const heir = view.replicas.find((node) => node.ready) ?? view.replicas[0];
  if (last === undefined) return drafts;
  if (heir === undefined) return [...drafts, restart(last, `the only node of shard ${view.shard}`)];
  return [
    ...drafts,
    {
      kind: 'HandOver',
      shard: view.shard,
      from: last.name,
      to: heir.pod,
      reason: `${last.name} is the master of shard ${view.shard} and must restart: ${heir.pod} takes over`,
    },
    restart(last, `a replica of shard ${view.shard} by now`),
  ];
}

const restart = (pod: ValkeyPod, what: string): Draft => ({
  kind: 'RestartPod',
  shard: pod.shard,
  pod: pod.name,
  reason: `${pod.name} runs with settings that only a restart changes; it is ${what}`,
});

/** Pods without a known template are left alone: they may be on their way up. */
function stalePods(context: PlanContext, view: ShardView): readonly ValkeyPod[] {
  const { topology, wish, options } = context;
  const differs = (pod: ValkeyPod): boolean =>
    options.restart === true ||
    (wish.templateHash !== undefined &&
      typeof pod.templateHash === 'string' &&
      pod.templateHash !== wish.templateHash);
  return (topology.pods ?? [])
    .filter((pod) => pod.shard === view.shard && !pod.terminating && differs(pod))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
