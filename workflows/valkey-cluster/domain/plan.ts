import { planBalance, type Distribution } from './balance.ts';
import type { ValkeyPlan } from './commands.ts';
import { nameOperation } from './operation-name.ts';
import { openSlots } from './open-slots.ts';
import { draftGrowth, draftJoining, growingShards, waitingShards } from './plan-growth.ts';
import { draftForgetting, draftHandOvers, draftRemoval } from './plan-removal.ts';
import { draftDrop, draftSecrets } from './plan-secrets.ts';
import { draftReplacements, draftRestarts, staleShards } from './plan-restart.ts';
import { bereftShards, heirOf } from './rescue.ts';
import { draftAssignments, draftMoves, draftRepairs } from './plan-slots.ts';
import { countSlots, SLOT_COUNT } from './slots.ts';
import { numberSteps, type Draft, type Stage } from './stages.ts';
import {
  count,
  holdingsOf,
  keptNodes,
  membersOf,
  viewShards,
  type ShardView,
  type ValkeyTopology,
} from './topology.ts';

/** What the spec asks of the shape of a cluster. */
export interface ValkeyWish {
  readonly masters: number;
  readonly replicasPerMaster: number;
  readonly deleting?: boolean;
  /** The hash of the pod template that the spec gives; pods of another one are restarted. */
  readonly templateHash?: string;
  /** The hash of all that is applied; StatefulSets that say otherwise are written again, with what they share. */
  readonly appliedHash?: string;
}

/** What a plan may do beside fulfilling the wish. */
export interface PlanOptions {
  /** Level the slots although the number of masters is right: on demand, or to finish what was interrupted. */
  readonly rebalance?: boolean;
  /** Whether the cluster ever served all its slots: those that are missing are then lost, not merely unassigned. */
  readonly formed?: boolean;
  /** Restart every pod, changed or not. */
  readonly restart?: boolean;
  /** Close slots that somebody left open. */
  readonly closeSlots?: boolean;
  /** Have the replica of a master that is lost with its data ask for votes. */
  readonly elects?: boolean;
  /** Let the jobs of one shard follow each other, as plans had it before the server was left to queue them. */
  readonly jobsInTurn?: boolean;
}

/** Everything that the parts of a plan are drafted from. */
export interface PlanContext {
  readonly topology: ValkeyTopology;
  readonly wish: ValkeyWish;
  readonly options: PlanOptions;
  readonly views: readonly ShardView[];
  /** The shards that are to exist, by number. */
  readonly wanted: readonly number[];
  readonly leaving: readonly ShardView[];
  readonly staying: readonly ShardView[];
  /** How many pods each shard is to have. */
  readonly pods: number;
  readonly formed: boolean;
  /** Whether some slots of a formed cluster are served by nobody. */
  readonly lacksSlots: boolean;
  readonly slots: Distribution;
}

export const PLAN_VERSION = 1;

/** What is to be done so that the cluster becomes what is wished, in order, and as little as possible. */
export function planValkeyCluster(
  topology: ValkeyTopology,
  wish: ValkeyWish,
  options: PlanOptions = {},
): ValkeyPlan {
  const context = gather(topology, wish, options);
  const stages = wish.deleting === true ? draftDeletion(context) : draftChange(context);
  const steps = numberSteps(stages);
  const slotsMoved = steps.reduce(
    (sum, step) => sum + (step.kind === 'MigrateSlots' ? step.slotCount : 0),
    0,
  );
  return {
    operation: steps.length === 0 ? 'none' : nameOperation(context, steps),
    version: PLAN_VERSION,
    steps,
    totals: { slotsMoved, steps: steps.length },
  };
}

/** The lowest numbers stay or come; the highest leave. */
export function selectShards(existing: readonly number[], masters: number): readonly number[] {
  const kept = existing.toSorted((a, b) => a - b).slice(0, masters);
  for (let next = 0; kept.length < masters; next += 1) if (!kept.includes(next)) kept.push(next);
  return kept.toSorted((a, b) => a - b);
}

function gather(topology: ValkeyTopology, wish: ValkeyWish, options: PlanOptions): PlanContext {
  const views = viewShards(topology);
  const holdings = holdingsOf(views);
  const formed = options.formed ?? holdings.some((one) => one.ranges.length > 0);
  const lacksSlots = formed && countSlots(holdings.flatMap((one) => one.ranges)) < SLOT_COUNT;
  const existing = views.map((view) => view.shard);
  // While slots are served by nobody, an election or a repair is due, and the shape stays as it is.
  const wanted = selectShards(existing, lacksSlots ? existing.length : wish.masters);
  const leaving = views.filter((view) => !wanted.includes(view.shard));
  const owns = (shard: number): boolean =>
    countSlots(holdings.find((one) => one.shard === shard)?.ranges ?? []) > 0;
  const unlevel =
    options.rebalance === true ||
    leaving.some((view) => owns(view.shard)) ||
    wanted.some((shard) => !owns(shard));
  const balance = !formed || (unlevel && !lacksSlots);
  const slots = balance ? planBalance(holdings, wanted) : { assigned: [], moves: [] };
  return {
    topology,
    wish,
    options,
    views,
    wanted,
    leaving,
    staying: views.filter((view) => wanted.includes(view.shard)),
    pods: 1 + wish.replicasPerMaster,
    formed,
    lacksSlots,
    slots,
  };
}

/** First what grows, then what moves, then what leaves: at no moment is a slot less safe than before. */
function draftChange(context: PlanContext): readonly Stage[] {
  const secrets = draftSecrets(context);
  if (secrets.length > 0) return secrets;
  const growing = growingShards(context, staleShards(context));
  const waiting = waitingShards(context);
  const takeOvers = growing.length === 0 ? draftTakeOvers(context) : [];
  // Nothing else can be done before somebody leads these shards; what is missing beside it is for the next plan.
  if (takeOvers.length > 0 && draftReplacements(context).length === 0) return [takeOvers];
  const elections = growing.length === 0 ? draftElections(context) : [];
  if (elections.length > 0) return [elections];
  const stages = [
    draftGrowth(context, growing),
    draftReplacements(context),
    ...draftJoining(context, waiting),
    draftAssignments(context),
    draftReplicas(context, waiting),
    ...draftMoves(context),
    draftRepairs(context),
    draftHandOvers(context),
    draftForgetting(context),
    draftRemoval(context),
  ];
  // What runs is restarted only from a cluster that is whole: one disruption at a time.
  const restarts = draftRestarts(context);
  const [growth = [], ...others] = stages;
  const whole = others.every((stage) => stage.length === 0);
  const all = whole && restarts.length > 0 ? [growth, ...restarts] : stages;
  const mends = context.options.closeSlots === true && openSlots(context.topology).length > 0;
  const changes = mends || all.some((stage) => stage.length > 0);
  return changes ? [...all, [verifyHealthy(context)]] : [draftDrop(context)];
}

/** Without a majority there is no vote: a person says whether what replicas lack of their masters' writes may be lost. */
const draftTakeOvers = ({ topology, formed }: PlanContext): Stage =>
  formed
    ? bereftShards(topology).map(({ shard, from, heir }) => ({
        kind: 'HandOver',
        shard,
        from,
        to: heir.pod,
        takeOver: true,
        irreversible: true,
        reason: `no majority of masters is left to elect one for shard ${shard}: ${heir.pod} takes over without a vote, and what only ${from} had acknowledged is lost`,
      }))
    : [];

/**
 * A replica that restarted after its master was lost is too long without it to stand for election by itself, and
 * would wait for ever. Once the lost one's pod is back as another node, nobody else can have the data.
 */
function draftElections({ topology, formed, options, staying }: PlanContext): Stage {
  const acquainted = topology.health?.apart?.length === 0;
  if (!formed || !acquainted || options.elects !== true) return [];
  return staying.flatMap((view): Draft[] => {
    const { shard } = view;
    const heir = heirOf(topology, shard);
    const lost = topology.orphans?.find((orphan) => orphan.id === heir?.masterId);
    if (heir === null || lost?.failed !== true || membersOf(view).length < view.pods) return [];
    const reason = `the master of shard ${shard} is lost with its data: ${heir.pod} asks the other masters for their vote`;
    const to = heir.pod;
    return [{ kind: 'HandOver', shard, from: lost.id, to, takeOver: 'voted', irreversible: true, reason }];
  });
}

/** A replica is attached before slots arrive at its master, so that no key is ever on one node alone. */
function draftReplicas(context: PlanContext, waiting: readonly number[]): Stage {
  const { wish, staying, wanted, pods, lacksSlots } = context;
  return wanted.flatMap((shard): Draft[] => {
    const view = staying.find((one) => one.shard === shard);
    const kept = view === undefined ? [] : keptNodes(view, pods);
    // A master whose pod goes needs an heir among those that stay, beside the replicas of that heir.
    const masterGoes = view !== undefined && view.master !== null && !kept.includes(view.master);
    const replicas = wish.replicasPerMaster + (masterGoes ? 1 : 0);
    const linked = kept.filter((node) => view?.replicas.includes(node) === true && node.linkUp !== false);
    // Replicas of a master that is gone stand for election: to attach them elsewhere would end it.
    const serving = view !== undefined && view.master !== null && countSlots(view.master.slots) > 0;
    const electing = lacksSlots && !serving && view?.strays.some((node) => node.role === 'replica') === true;
    if (replicas === 0 || electing || (!waiting.includes(shard) && linked.length >= replicas)) return [];
    const reason = `${count(replicas, 'replica')} of shard ${shard} must follow its master and be in sync`;
    return [{ kind: 'AttachReplica', shard, replicas, reason }];
  });
}

function draftDeletion(context: PlanContext): readonly Stage[] {
  return [
    context.views.map(({ shard, pods }) => ({
      kind: 'RemoveShard',
      shard,
      irreversible: true,
      reason: `the cluster is deleted: shard ${shard} goes with its ${count(pods, 'pod')}`,
    })),
    [
      {
        kind: 'VerifyHealth',
        expect: 'gone',
        masters: 0,
        replicasPerMaster: 0,
        reason: 'nothing of the cluster may be left before the resource goes',
      },
    ],
  ];
}

function verifyHealthy({ wanted, topology, options, wish: { replicasPerMaster } }: PlanContext): Draft {
  const masters = wanted.length;
  const open = options.closeSlots === true ? openSlots(topology).filter(({ heir }) => heir === null) : [];
  const closed = open.length === 0 ? '' : `; ${count(open.length, 'slot')} left open must be closed`;
  return {
    kind: 'VerifyHealth',
    expect: 'healthy',
    masters,
    replicasPerMaster,
    reason: `${count(masters, 'master')} with ${count(replicasPerMaster, 'replica')} each must serve all slots and agree${closed}`,
  };
}
