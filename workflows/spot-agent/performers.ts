import { failure, failureOf } from '../shared/failures.ts';
import type { OperationRun, Performers } from '../shared/operation.ts';
import type { Facts } from '../shared/plan.ts';
import type { SpotTypes } from './contract.ts';
import type { SpotCommand, SpotStep } from './domain/commands.ts';
import { closeInstance } from './domain/states.ts';
import { TIMES } from './domain/times.ts';

export type SpotRun = OperationRun<SpotTypes>;

/** A launch that ended so is answered by another pool, and not by waiting for this one. */
const ANSWERED_ELSEWHERE: ReadonlySet<string> = new Set([
  'Ec2NoCapacity',
  'Ec2Invalid',
  'Ec2Unavailable',
  'TimedOut',
]);

/** How each command becomes activities. */
export const performersOf = (run: SpotRun): Performers<SpotTypes, SpotCommand['kind']> => ({
  LaunchReplica: (step, summary) => launchReplica(run, step, summary),

  async AwaitReplica({ replicas, facts }, summary) {
    const untilMs = Number(facts?.['untilMs'] ?? 0);
    const { ready, message } = await run.port.wait(summary).awaitSpotReplica({ replicas, untilMs });
    if (ready === null) throw failure('ReplicaNotReady', message);
    return { ready };
  },

  async Promote({ instance, epoch, facts }, summary): Promise<Facts> {
    const { agent } = run.observed;
    const promotion = { agentId: agent.id, instanceId: instance, expectedEpoch: epoch };
    const promoted = await run.port.act(summary).promoteSpotInstance(promotion);
    const deadlineMs = Number(facts?.['deadlineMs'] ?? 0);
    const lateMs = deadlineMs === 0 ? 0 : run.port.nowMs() - deadlineMs;
    if (lateMs > 0)
      await tell(
        run,
        'deadline_missed',
        instance,
        `promoted ${Math.round(lateMs / 1000)} s after the deadline`,
      );
    run.note({ epoch: promoted.epoch, primary: instance });
    return { epoch: promoted.epoch, repeated: promoted.repeated, seconds: promoted.seconds };
  },

  async ClearNotice({ instance, notice }, summary) {
    const { id } = run.observed.agent;
    await run.port.act(summary).clearSpotNotice({ agentId: id, instanceId: instance, notice });
  },

  async CloseReplica({ replica }, summary) {
    await run.port.act(summary).closeSpotReplica({ replica, to: 'terminated', error: null });
  },

  async AdoptInstance({ replica, instance }, summary) {
    await run.port.act(summary).linkSpotReplica({ replica, instanceId: instance });
    await tell(
      run,
      'instance_adopted',
      instance,
      `found running for ${replica}, of which its row did not know`,
    );
  },

  async TerminateInstance({ instance, reason }, summary) {
    const { state } = await run.port.act(summary).terminateEc2Instance(targetOf(run, instance));
    await tell(run, 'instance_terminating', instance, reason);
    return { state };
  },

  async ConfirmTerminated({ instance }, summary) {
    await run.port.wait(summary).awaitEc2Terminated(targetOf(run, instance));
  },

  async CloseInstance({ instance, event }, summary) {
    const observed = await run.observe();
    const row = observed.instances.find((one) => one.id === instance);
    if (row === undefined || row.status === 'terminated') return;
    const move = closeInstance(row.status, event);
    if (!move.moved) throw failure('PhaseRefused', `${instance}: ${move.refusal}`);
    await run.port.act(summary).closeSpotInstance({ instanceId: instance, event });
  },
});

/** Intent, launch, result: each is written down before the next, so that a crash between them loses nothing. */
async function launchReplica(
  run: SpotRun,
  step: Extract<SpotStep, { readonly kind: 'LaunchReplica' }>,
  summary: string,
): Promise<Facts> {
  const { agent } = run.observed;
  const { replica, instanceType, az, subnetId, market, emergency, reason } = step;
  if (agent.launch === null) throw failure('ReplicaNotReady', 'the agent has no launch configuration');
  const scope = {
    agentId: agent.id,
    clientId: agent.clientId,
    region: agent.region,
    instanceType,
    az,
    market,
  };
  const activities = run.port.act(summary);
  await activities.recordSpotReplica({ ...scope, id: replica, emergency, reason });
  const { imageId } = agent.launch;
  const launch = { ...scope, replica, epoch: agent.epoch, operation: run.port.workflowId, imageId, subnetId };
  try {
    const limitMs = emergency ? TIMES.emergencyLaunchMs : TIMES.unseenMs;
    const { instanceId, repeated } = await within(run, limitMs, () => activities.launchEc2Instance(launch));
    await activities.linkSpotReplica({ replica, instanceId });
    return { instance: instanceId, repeated };
  } catch (error) {
    const failed = failureOf(error);
    if (failed === null || !ANSWERED_ELSEWHERE.has(failed.code)) throw error;
    const why = `${failed.code}: ${failed.message}`;
    await activities.closeSpotReplica({ replica, to: 'failed', error: why });
    await tell(run, 'launch_failed', null, `${instanceType}/${az} (${market}): ${why}`);
    return { instance: null, failed: failed.code };
  }
}

/** Waits for work for so long, and then lets go of it. */
async function within<T>(run: SpotRun, limitMs: number, work: () => Promise<T>): Promise<T> {
  const started = run.port.cancellable(work);
  let ended = false;
  const settled = started.end.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  void settled.then(() => (ended = true));
  const inTime = await run.port.until(() => ended, { summary: 'the launch', timeoutMs: limitMs });
  if (!inTime) started.cancel();
  const outcome = await settled;
  if ('value' in outcome) return outcome.value;
  if (inTime) throw outcome.error;
  throw failure('TimedOut', `EC2 did not launch it within ${limitMs / 1000} s`);
}

function targetOf(run: SpotRun, instanceId: string) {
  const { agent, instances, cloud } = run.observed;
  const row = instances.find((one) => one.id === instanceId);
  const seen = cloud?.instances.find((one) => one.id === instanceId);
  const knownSinceMs = row?.createdAtMs ?? seen?.launchedAtMs ?? 0;
  return { region: agent.region, agentId: agent.id, instanceId, knownSinceMs };
}

async function tell(run: SpotRun, type: string, instanceId: string | null, message: string): Promise<void> {
  const { id, clientId } = run.observed.agent;
  const key = `${type}:${run.port.workflowId}:${instanceId ?? ''}:${message}`.slice(0, 190);
  const severity = type === 'deadline_missed' ? 'critical' : 'warning';
  await run.port
    .act(`event: ${type}`)
    .recordSpotEvent({ key, agentId: id, clientId, instanceId, type, severity, message });
}
