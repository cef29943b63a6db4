import type { Lifecycle, View } from '../shared/lifecycle.ts';
import type { Condition } from '../shared/messages.ts';
import { KIND, LIFECYCLE, type SpotTypes } from './contract.ts';
import type { SpotPlan } from './domain/commands.ts';
import { GUARDS } from './domain/guards.ts';
import { primaryOf, type SpotObservation, type SpotRows } from './domain/observation.ts';
import { PHASE_TABLE, type Event } from './domain/phases.ts';
import { planSpotAgent } from './domain/plan.ts';
import { describeVacancy, isSilent, openReplicas, selectHeirs } from './domain/readiness.ts';

/** The operations that there are workflows for, by the name that plans give them. */
const OPERATIONS: Readonly<Record<string, string>> = {
  'fail-over': 'failOverSpotAgent',
  'launch-replica': 'launchSpotReplica',
  'retire-instance': 'retireSpotInstance',
  sweep: 'sweepSpotAgent',
};

/** A spot agent, all of its life. */
export const spotLifecycle: Lifecycle<SpotTypes> = {
  name: LIFECYCLE,
  kind: KIND,
  initialPhase: 'Pending',
  table: PHASE_TABLE,
  events: { failed: 'Failure', recovered: 'Recovered', superseded: 'WishChanged', cancelled: 'WishChanged' },
  guards: GUARDS,
  operations: OPERATIONS,
  async observe(port, ref) {
    const rows = await port.act('the rows').readSpotRows(ref);
    if (rows === null) return null;
    const { region, id, launch } = rows.agent;
    const cloud = await port.act('what EC2 says').observeEc2Instances({
      region,
      agentId: id,
      instanceIds: rows.instances.filter((one) => one.status !== 'terminated').map((one) => one.id),
      pools: mayLaunch(rows) ? (launch?.pools ?? []) : [],
    });
    return { ...rows, cloud };
  },
  served: ({ agent }) => ({
    kind: KIND,
    uid: agent.uid,
    generation: agent.generation,
    deleting: false,
    phase: agent.phase,
    carriedOut: agent.carriedOut,
    approvals: false,
  }),
  plan: planSpotAgent,
  settle: settlePhase,
  lost: () => null,
  summary: summarise,
  conditions: buildConditions,
  async report(port, { observed: { agent }, phase, message, carriedOut }) {
    await port
      .act(`status: ${phase}`)
      .writeSpotStatus({ agentId: agent.id, uid: agent.uid, phase, message, carriedOut });
  },
  async announce(port, { observed: { agent } }: View<SpotTypes>, news) {
    await port.act(`event: ${news.reason}`).recordSpotEvent({
      key: null,
      agentId: agent.id,
      clientId: agent.clientId,
      instanceId: null,
      type: news.reason,
      severity: news.type === 'Warning' ? 'warning' : 'info',
      message: news.message,
    });
  },
};

/** Whether prices matter now: they are asked for only where a launch may follow. */
const mayLaunch = (rows: SpotRows): boolean =>
  rows.agent.notice !== null ||
  primaryOf(rows) === null ||
  (rows.agent.manualReplica && openReplicas(rows).length === 0);

/** With nothing to do, an agent is what it is found to be. */
function settlePhase(observed: SpotObservation): readonly Event[] {
  if (describeVacancy(observed) !== null) return ['PrimaryMissing'];
  return [isSilent(observed) ? 'SilenceObserved' : 'ServingObserved'];
}

/** `fail-over: agent-1, AWS has announced to take the PRIMARY back; …`. */
function summarise({ agent }: SpotObservation, plan: SpotPlan): string {
  return `${plan.operation}: ${agent.id}, ${plan.steps[0]?.reason ?? ''}`;
}

function buildConditions({ observed, served, blocked, failure }: View<SpotTypes>): readonly Condition[] {
  const observedGeneration = served.generation;
  const primary = primaryOf(observed);
  const loss = describeVacancy(observed);
  const heirs = selectHeirs(observed).length;
  return [
    {
      type: 'Serving',
      status: loss === null ? 'True' : 'False',
      reason: loss === null ? 'PrimaryRuns' : 'PrimaryLost',
      message: loss ?? `${primary?.id ?? ''} is PRIMARY with epoch ${observed.agent.epoch}`,
      observedGeneration,
    },
    {
      type: 'Protected',
      status: heirs > 0 ? 'True' : 'False',
      reason: heirs > 0 ? 'ReplicaReady' : 'NoReplica',
      message: heirs > 0 ? `${heirs} ready` : 'no replica is ready to be promoted',
      observedGeneration,
    },
    {
      type: 'Degraded',
      status: failure === null && blocked === null ? 'False' : 'True',
      reason: failure?.code ?? (blocked === null ? 'AsExpected' : 'Blocked'),
      message: failure?.message ?? blocked ?? '',
      observedGeneration,
    },
  ];
}
