import { failure, failureOf } from '../../shared/failures.ts';
import type { Failure } from '../../shared/failure-codes.ts';
import type { OperationResult } from '../../shared/messages.ts';
import { runOperation, type Operation } from '../../shared/operation.ts';
import type { Json } from '../../shared/plan.ts';
import type { OperationPort } from '../../shared/port.ts';
import { operationPort } from '../../shared/temporal-port.ts';
import { buildAccess, serversOf } from '../../valkey-cluster/domain/access.ts';
import { masterOf } from '../../valkey-cluster/performers.ts';
import type { ValkeyStep } from '../../valkey-cluster/domain/commands.ts';
import { isAgreement, type ShardInput, type ShardNews, type ShardTypes } from '../contract.ts';
import { isVersionOf, type ShardStatus } from '../domain/resource.ts';
import { WORKING, type ShardState } from '../domain/shard-states.ts';
import { forgetLost } from '../forgetting.ts';
import { within, type ShardRun } from '../limits.ts';
import { applySet, awaitSync, shardPerformersOf } from '../performers.ts';
import { shardLifecycle } from '../shard-lifecycle.ts';

/** After a handover the nodes need a moment to agree, beside the time for which they must. */
const UNREST_SECONDS = 60;

/** One shard's part of an upgrade, or of the way back, told to the upgrade step by step. */
export function runShard(
  port: OperationPort<ShardTypes['activities']>,
  input: ShardInput,
): Promise<OperationResult> {
  const notes = new ShardNotes(input.order.status);
  const tell = (status: ShardState): Promise<void> => {
    const steps = notes.run?.progress.steps ?? [];
    const news: ShardNews = { shard: { ...notes.status, status }, steps, awaits: notes.awaits };
    return port.tellParent(news as unknown as Json);
  };
  port.hear((news) => {
    if (isAgreement(news)) notes.agreed = true;
  });
  const lifecycle = shardLifecycle(input, ({ phase }) => tell(phase));
  return runOperation(port, lifecycle, upgradeShard(input, notes, tell), input);
}

/** The workflow of one shard. */
export const upgradeValkeyShard = (input: ShardInput): Promise<OperationResult> =>
  runShard(operationPort<ShardTypes['activities']>(input.tuning), input);

/** What there is to say of a shard beside its state. */
class ShardNotes {
  status: ShardStatus;
  run: ShardRun | null = null;
  agreed = false;
  awaits: string | null = null;

  constructor(status: ShardStatus) {
    const { error: _, ...rest } = status;
    this.status = rest;
  }

  add(more: Partial<ShardStatus>): void {
    this.status = { ...this.status, ...more };
  }
}

const upgradeShard = (
  { order }: ShardInput,
  notes: ShardNotes,
  tell: (status: ShardState) => Promise<void>,
): Operation<ShardTypes> => ({
  name: `${order.direction} of shard ${order.shard}`,
  interruptible: [],

  async run(run) {
    notes.run = run;
    if (WORKING.includes(run.phase)) run.reached('ShardInterrupted');
    try {
      await (order.direction === 'upgrade' ? goForward(run, order, notes) : goBack(run, order, notes));
    } catch (error) {
      const failed = failureOf(error);
      if (failed !== null && failed.code !== 'Cancelled') {
        notes.add({ error: failed.message });
        run.reached(isFinal(failed) ? 'ShardFailed' : 'ShardInterrupted', failed.message);
        // The run ends here, and what it has not said by then nobody hears.
        await tell(run.phase);
      }
      throw error;
    }
  },
});

/** Whether a failure is the shard's, so that nothing is won by planning the same again. */
export const isFinal = (failed: Failure): boolean =>
  failed.code === 'ValkeyUpgradeFailed' || failed.class === 'permanent' || failed.class === 'validation';

/** Replicas first, then the handover, and the old master last. */
async function goForward(run: ShardRun, order: ShardInput['order'], notes: ShardNotes): Promise<void> {
  const perform = performersOf(run, order, notes);
  noteMaster(run, order, notes);
  run.reached('ShardStarted', `shard ${order.shard}: replicas first`);
  const { CreateShard, AwaitPods, MeetNode, AttachReplica, RestartPod, HandOver, Snapshot, RemoveReplica } =
    perform;
  await run.perform({ CreateShard, AwaitPods, MeetNode, AttachReplica, RestartPod, Snapshot });
  run.reached('ReplicasUpgraded');
  await awaitReplicas(run, order, notes);
  run.reached('ReplicasInSync');
  await run.perform({ HandOver });
  run.reached('MasterHandedOver');
  // Who is there was seen a moment ago; a pod that was replaced since is refused by its uid.
  await awaitStability(run, order, run.observed);
  run.reached('ClusterStable');
  await run.perform({ Snapshot, RestartPod, HandOver, RemoveReplica });
  refuseLeftovers(run);
  await letGoOfSnapshot(run, order);
  // The last node to restart was seen with the others when it was back.
  verifyVersion(order, run.observed);
  run.reached('OldMasterUpgraded', `shard ${order.shard} runs ${order.tag}`);
}

/** First a node of the old version leads again, then the others follow it. */
async function goBack(run: ShardRun, order: ShardInput['order'], notes: ShardNotes): Promise<void> {
  const perform = performersOf(run, order, notes);
  const { CreateShard, AwaitPods, MeetNode, AttachReplica, RestartPod, HandOver, RemoveReplica } = perform;
  run.reached('RollbackStarted', `shard ${order.shard} goes back to ${order.tag}`);
  await run.perform({ CreateShard, HandOver });
  run.reached('MasterHandedOver');
  run.reached('ClusterStable');
  await run.perform({ CreateShard, RemoveReplica, AwaitPods, MeetNode, AttachReplica, RestartPod, HandOver });
  refuseLeftovers(run);
  const observed = await run.observe();
  await awaitStability(run, order, observed);
  verifyVersion(order, observed);
  run.reached('ShardRolledBack', `shard ${order.shard} runs ${order.tag} again`);
}

/** A plan and its runbook must fit: a step that nobody performs is a defect of ours, and nothing may look done for it. */
function refuseLeftovers({ progress }: ShardRun): void {
  const left = progress.steps.find(({ state }) => state === 'waiting');
  if (left !== undefined) throw new Error(`nothing performs step ${left.id} ${left.kind} of this shard`);
}

/** The performers, each telling the upgrade when its step begins and ends. */
function performersOf(run: ShardRun, order: ShardInput['order'], notes: ShardNotes) {
  const performers = shardPerformersOf(run, order, {
    handedOver({ to, why, gapMs }) {
      const longest = Math.max(notes.status.writeGapMs ?? 0, gapMs);
      notes.add({ promotedReplica: to, promotedBecause: why, writeGapMs: longest });
    },
    awaitsPods(sinceMs, elapsedMs) {
      const podReadyElapsedSeconds = Math.round(elapsedMs / 1000);
      notes.add({ podReadyStartedAt: isoTime(sinceMs), podReadyElapsedSeconds });
    },
  });
  const told = Object.entries(performers).map(([kind, perform]) => [
    kind,
    async (step: Parameters<typeof perform>[0], summary: string) => {
      await passGate(run, order, notes, step);
      run.tell(`${step.id} ${step.kind}: ${step.reason}`);
      // The kind of the step chose its performer, which TypeScript cannot follow through the entries.
      return (perform as (step: object, summary: string) => Promise<never>)(step, summary);
    },
  ]);
  return Object.fromEntries(told) as typeof performers;
}

/** Waits for a person before the step at which the upgrade asks for one. */
async function passGate(
  run: ShardRun,
  { gate }: ShardInput['order'],
  notes: ShardNotes,
  step: ValkeyStep,
): Promise<void> {
  const asks = gate === 'irreversible' ? step.irreversible : gate === step.kind;
  if (!asks || notes.agreed) return;
  notes.awaits = `${step.id} ${step.kind}: ${step.reason}`;
  run.tell(`waits for approval of ${notes.awaits}`);
  const summary = `approval of ${step.id} ${step.kind}`;
  await run.port.until(() => notes.agreed || run.progress.stopping !== null, { summary });
  notes.awaits = null;
  await run.safePoint();
}

function noteMaster(run: ShardRun, { shard }: ShardInput['order'], notes: ShardNotes): void {
  const master = masterOf(run.observed, shard);
  notes.add({ masterNodeId: master.id, masterPod: master.pod });
}

/** All replicas must have what the master has before one of them takes over: by link and offset, not by their pods. */
async function awaitReplicas(run: ShardRun, order: ShardInput['order'], notes: ShardNotes): Promise<void> {
  const startedMs = run.port.nowMs();
  notes.add({ syncStartedAt: isoTime(startedMs), syncElapsedSeconds: 0 });
  const { observed } = run;
  const master = masterOf(observed, order.shard);
  const replicas = observed.nodes.filter((node) => node.masterId === master.id && node.ready);
  await awaitSync(run, order, replicas, master, `replicas of shard ${order.shard} are in sync`);
  notes.add({ syncElapsedSeconds: Math.round((run.port.nowMs() - startedMs) / 1000) });
}

async function awaitStability(
  run: ShardRun,
  { limits }: ShardInput['order'],
  { cluster, pods, nodes }: ShardRun['observed'],
): Promise<void> {
  // A node that has just started in another shard is no part of the cluster yet.
  const members = new Set(
    nodes.flatMap((node) => (node.role === 'replica' || node.slots.length > 0 ? node.pod : [])),
  );
  const servers = serversOf(pods.filter((pod) => pod.ready && members.has(pod.name)));
  const { stabilitySeconds } = limits;
  await within(
    run,
    UNREST_SECONDS + stabilitySeconds,
    'a stable cluster',
    () =>
      run.port
        .wait(`the cluster is stable for ${stabilitySeconds} s`)
        .awaitValkeyStability({ access: buildAccess(cluster), servers, stableSeconds: stabilitySeconds }),
    // A pod of any shard that was lost meanwhile comes back as another member where it has no volume.
    (observed) => forgetLost(run, observed, 'members that are lost'),
  );
}

/** Pods that start after the upgrade have nothing to put aside any more. */
async function letGoOfSnapshot(run: ShardRun, order: ShardInput['order']): Promise<void> {
  if (run.input.plan.steps.every((step) => step.kind !== 'Snapshot')) return;
  await applySet(run, order, order.pods, `shard ${order.shard} keeps no further snapshots`, false);
}

/** What the servers say of themselves counts, not what their pods were made with. */
function verifyVersion({ shard, tag }: ShardInput['order'], { nodes }: ShardRun['observed']): void {
  const wrong = nodes.find((node) => node.shard === shard && !isVersionOf(node.version, tag));
  if (wrong !== undefined)
    throw failure('ValkeyUpgradeFailed', `${wrong.pod} says that it runs ${wrong.version}, not ${tag}`);
}

/** A time as Kubernetes writes it, in whole seconds. */
const isoTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
