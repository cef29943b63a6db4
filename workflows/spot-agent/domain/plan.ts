import { emptyPlan } from '../../shared/plan.ts';
import { sha256Hex } from '../../shared/sha256.ts';
import { buildPlan, PLAN_VERSION, type SpotDraft, type SpotPlan } from './commands.ts';
import { planForDeadline } from './deadline.ts';
import { primaryOf, type SpotObservation, type SpotReplica } from './observation.ts';
import { rankPools, type PoolChoice } from './pools.ts';
import { describeVacancy, openReplicas, refuseHeir, selectHeirs } from './readiness.ts';
import { planRebalance } from './rebalance.ts';
import { planRetirement } from './retirement.ts';
import { stateOf } from './states.ts';
import { sweep, type Finding } from './sweep.ts';
import { TIMES } from './times.ts';

/** What is to be done for an agent now: the most urgent thing alone, the next one at the next look. */
export function planSpotAgent(observed: SpotObservation): SpotPlan {
  return (
    planLoss(observed) ??
    planSwitch(observed, 'healthy') ??
    planIntended(observed) ??
    planRecommendation(observed) ??
    planFindings(observed) ??
    planManualReplica(observed) ??
    planExcess(observed) ??
    planZombies(observed) ??
    planSwitch(observed, 'any') ??
    emptyPlan(PLAN_VERSION)
  );
}

/** The id of the next replica of an agent: the same for the same rows, so that a repetition means the same one. */
export function nextReplicaId({ agent }: Pick<SpotObservation, 'agent'>, offset = 0): string {
  const seed = `${agent.uid}/${agent.replicasEver + offset}`;
  return `rep-${sha256Hex(seed).slice(0, 16)}`;
}

/** The PRIMARY goes, is gone, or has no row: the plan is chosen by the time that is left. */
function planLoss(observed: SpotObservation): SpotPlan | null {
  const loss = describeVacancy(observed);
  if (loss === null) return null;
  const { agent, nowMs } = observed;
  const deadlineMs = agent.notice?.kind === 'termination' ? agent.notice.deadlineMs : null;
  const choice = planForDeadline(observed, deadlineMs ?? nowMs);
  const reason = `${loss}; ${choice.reason}`;
  switch (choice.choice) {
    case 'ready-replica':
      return buildPlan('fail-over', [[promote(observed, choice.heir, true, deadlineMs, reason)]]);
    case 'replica-in-launch':
      return prepareOpen(observed, choice.replicas, true, reason);
    case 'launch-race': {
      const untilMs = Math.max(deadlineMs ?? 0, nowMs + TIMES.emergencyLaunchMs);
      return launch(observed, choice.pools, true, untilMs, reason);
    }
    case 'none':
      return null;
  }
}

/** A person named the instance that is to be PRIMARY. One that is not healthy yet keeps nothing else from being done. */
function planSwitch(observed: SpotObservation, to: 'healthy' | 'any'): SpotPlan | null {
  const { switchTarget } = observed.agent;
  const target = openReplicas(observed).find((one) => one.instanceId === switchTarget);
  if (switchTarget === null || target === undefined) return null;
  if (to === 'healthy' && refuseHeir(target, observed.nowMs) !== null) return null;
  return buildPlan('fail-over', [[promote(observed, target, false, null, 'a switch was asked for')]]);
}

/** A replica that is only a row yet is launched: its launch may have been interrupted. */
function planIntended(observed: SpotObservation): SpotPlan | null {
  const intended = openReplicas(observed).filter((one) => one.instanceId === null);
  if (intended.length === 0) return null;
  const emergency = intended.some((one) => one.emergency);
  return prepareOpen(observed, intended, emergency, 'its row is there, and its instance is not');
}

function planRecommendation(observed: SpotObservation): SpotPlan | null {
  const { notice } = observed.agent;
  if (notice === null) return null;
  const primary = primaryOf(observed);
  const clear: SpotDraft = {
    kind: 'ClearNotice',
    instance: notice.instanceId,
    notice: notice.kind,
    reason: 'the instance of the notice is not PRIMARY any more',
  };
  if (primary !== null && primary.id !== notice.instanceId) return buildPlan('sweep', [[clear]]);
  if (notice.kind !== 'rebalance') return null;
  const choice = planRebalance(observed, notice.receivedAtMs);
  switch (choice.choice) {
    case 'prepare':
      return launch(observed, [choice.pool], true, observed.nowMs + TIMES.noticeMs, choice.reason);
    case 'promote':
      return buildPlan('fail-over', [[promote(observed, choice.heir, false, null, choice.reason)]]);
    case 'expire':
      return buildPlan('sweep', [[{ ...clear, reason: choice.reason }]]);
    case 'await':
    case 'hold':
      return null;
  }
}

/** Manual mode keeps exactly one replica. */
function planManualReplica(observed: SpotObservation): SpotPlan | null {
  const { agent, nowMs } = observed;
  if (!agent.manualReplica || primaryOf(observed) === null || openReplicas(observed).length > 0) return null;
  const [pool] = rankPools(observed).chosen;
  if (pool === undefined) return null;
  return launch(observed, [pool], false, nowMs + 300_000, `manual mode keeps one replica: ${pool.reason}`);
}

/** Replicas beyond what the mode keeps: losers of a race, and those of a recommendation that expired. */
function planExcess(observed: SpotObservation): SpotPlan | null {
  const { agent } = observed;
  // Without a PRIMARY no replica is one too many: the next that is ready takes its place.
  if (agent.notice !== null || primaryOf(observed) === null) return null;
  const open = openReplicas(observed);
  const [best] = [...selectHeirs(observed), ...open];
  const excess = open
    .filter((one) => (agent.manualReplica ? one.id !== best?.id : one.emergency))
    // Somebody waits for it to be PRIMARY.
    .filter((one) => one.instanceId === null || one.instanceId !== agent.switchTarget);
  if (excess.length === 0) return null;
  const reason = agent.manualReplica
    ? 'manual mode keeps one replica'
    : 'the emergency that it was for is over';
  return buildPlan('retire-instance', [
    excess.map(({ id, instanceId }) => ({ kind: 'CloseReplica', replica: id, instance: instanceId, reason })),
    excess.flatMap((one) => endOf(one.instanceId, reason)),
    excess.flatMap((one) => confirmOf(one.instanceId)),
    excess.flatMap((one) => closeOf(one.instanceId, 'CleanedUp')),
  ]);
}

function planZombies(observed: SpotObservation): SpotPlan | null {
  const zombies = observed.instances.filter((one) => stateOf(one.status) === 'ZOMBIE');
  const due = zombies.flatMap((one) => {
    const judged = planRetirement(observed, one);
    return judged.do === 'keep' ? [] : [{ id: one.id, ...judged }];
  });
  if (due.length === 0) return null;
  const ending = due.filter((one) => one.do === 'terminate');
  return buildPlan('retire-instance', [
    ending.flatMap((one) => endOf(one.id, one.reason)),
    ending.flatMap((one) => confirmOf(one.id)),
    due.flatMap((one) => closeOf(one.id, one.event)),
  ]);
}

function planFindings(observed: SpotObservation): SpotPlan | null {
  const findings = sweep(observed);
  if (findings.length === 0) return null;
  return buildPlan('sweep', [
    findings.map(healFirst),
    findings.flatMap((one) => (one.heal === 'terminate' ? confirmOf(one.instance) : [])),
  ]);
}

function healFirst(finding: Finding): SpotDraft {
  const { reason } = finding;
  switch (finding.heal) {
    case 'adopt':
      return { kind: 'AdoptInstance', replica: finding.replica, instance: finding.instance, reason };
    case 'terminate':
      return { kind: 'TerminateInstance', instance: finding.instance, reason };
    case 'close-instance':
      return { kind: 'CloseInstance', instance: finding.instance, event: 'CleanedUp', reason };
    case 'close-replica':
      return { kind: 'CloseReplica', replica: finding.replica, instance: null, reason };
  }
}

function promote(
  { agent, nowMs }: SpotObservation,
  heir: SpotReplica,
  emergency: boolean,
  deadlineMs: number | null,
  reason: string,
): SpotDraft {
  const unhealthy = emergency ? null : refuseHeir(heir, nowMs);
  return {
    kind: 'Promote',
    instance: heir.instanceId ?? '',
    epoch: agent.epoch,
    emergency,
    facts: { deadlineMs },
    reason: unhealthy === null ? reason : `${reason} (${unhealthy})`,
  };
}

function launch(
  observed: SpotObservation,
  pools: readonly PoolChoice[],
  emergency: boolean,
  untilMs: number,
  reason: string,
): SpotPlan {
  const drafts = pools.map((pool, at): SpotDraft => ({
    kind: 'LaunchReplica',
    replica: nextReplicaId(observed, at),
    instanceType: pool.instanceType,
    az: pool.az,
    subnetId: pool.subnetId,
    market: pool.market,
    emergency,
    reason: pools.length === 1 ? reason : `${reason}; ${pool.reason}`,
  }));
  const replicas = drafts.flatMap((one) => (one.kind === 'LaunchReplica' ? [one.replica] : []));
  return buildPlan('launch-replica', [drafts, [awaitReplica(replicas, untilMs)]]);
}

/** Launches what is only a row, and waits for the first of all that are open. */
function prepareOpen(
  observed: SpotObservation,
  replicas: readonly SpotReplica[],
  emergency: boolean,
  reason: string,
): SpotPlan {
  const subnetOf = (one: SpotReplica): string | null =>
    observed.agent.launch?.pools.find((pool) => pool.instanceType === one.instanceType && pool.az === one.az)
      ?.subnetId ?? null;
  const drafts = replicas.flatMap((one): readonly SpotDraft[] =>
    one.instanceId !== null
      ? []
      : [
          {
            kind: 'LaunchReplica',
            replica: one.id,
            instanceType: one.instanceType,
            az: one.az,
            subnetId: subnetOf(one),
            market: one.market,
            emergency,
            reason,
          },
        ],
  );
  const untilMs = Math.max(observed.agent.notice?.deadlineMs ?? 0, observed.nowMs) + TIMES.noticeMs;
  return buildPlan('launch-replica', [
    drafts,
    [
      awaitReplica(
        replicas.map((one) => one.id),
        untilMs,
      ),
    ],
  ]);
}

const awaitReplica = (replicas: readonly string[], untilMs: number): SpotDraft => ({
  kind: 'AwaitReplica',
  replicas,
  facts: { untilMs },
  reason: 'a replica is ready when its own agent says so',
});

const endOf = (instance: string | null, reason: string): readonly SpotDraft[] =>
  instance === null ? [] : [{ kind: 'TerminateInstance', instance, reason }];

const confirmOf = (instance: string | null): readonly SpotDraft[] =>
  instance === null
    ? []
    : [{ kind: 'ConfirmTerminated', instance, reason: 'only what EC2 confirms is terminated' }];

const closeOf = (
  instance: string | null,
  event: 'CleanedUp' | 'RetentionExpired' | 'TerminationConfirmed',
): readonly SpotDraft[] =>
  instance === null
    ? []
    : [{ kind: 'CloseInstance', instance, event, reason: 'its row follows what EC2 has confirmed' }];
