import { changePerformersOf } from './change-performers.ts';
import { buildAccess } from './domain/access.ts';
import { CLOSES_SLOTS, openSlots } from './domain/open-slots.ts';
import { phaseFacts, refusePhaseEvent } from './domain/phase-guards.ts';
import {
  applySharedObjects,
  performersOf,
  reached,
  serverOf,
  verifyHealth,
  type ValkeyRun,
} from './performers.ts';

/** Enters the first phase of a flow; a change that goes on where it was interrupted may be there already. */
export function begin(
  run: ValkeyRun,
  event: 'ScaleUpDetected' | 'ScaleDownDetected' | 'ReplicaScaleDownDetected',
): void {
  if (refusePhaseEvent(run.phase, event, phaseFacts(run.observed)) === null) run.reached(event);
}

/** New pods come, their nodes join, and new replicas follow their masters before a slot arrives there. */
export async function growCluster(run: ValkeyRun): Promise<void> {
  const { CreateShard, RestartPod, AwaitPods, MeetNode, AttachReplica } = performersOf(run);
  begin(run, 'ScaleUpDetected');
  await applySharedObjects(run);
  await run.perform({ CreateShard });
  reached(run, 'StatefulSetScaled');

  await run.perform({ RestartPod, AwaitPods });
  await run.observe();
  reached(run, 'PodsRunning');

  await run.perform({ MeetNode });
  await run.observe();
  await run.perform({ AttachReplica });
  reached(run, 'NodesAdded');
}

/** The slots that new masters are to serve arrive there; with none to move, this is passed through. */
export async function rebalanceSlots(run: ValkeyRun): Promise<void> {
  const { MigrateSlots } = changePerformersOf(run);
  await run.observe();
  await run.perform({ MigrateSlots });
  reached(run, 'SlotsRebalanced');
  reached(run, 'ReplicasConfigured');
}

/** What a cluster that is to shrink lacks meanwhile comes back first: it must be whole before it gets smaller. */
export async function mendNodes(run: ValkeyRun): Promise<void> {
  const { CreateShard, RestartPod, AwaitPods, MeetNode, AttachReplica } = performersOf(run);
  await applySharedObjects(run);
  await run.perform({ CreateShard, RestartPod, AwaitPods });
  await run.observe();
  await run.perform({ MeetNode });
  await run.observe();
  await run.perform({ AttachReplica });
}

/** Shards that leave give all their slots away. */
export async function evacuateSlots(run: ValkeyRun): Promise<void> {
  const { MigrateSlots } = changePerformersOf(run);
  begin(run, 'ScaleDownDetected');
  await mendNodes(run);
  await run.observe();
  await run.perform({ MigrateSlots });
  reached(run, 'SlotsMigrated');
}

/** Nodes that leave are forgotten by all that stay, and then taken away. */
export async function removeNodes(run: ValkeyRun): Promise<void> {
  const { HandOver, RemoveReplica } = changePerformersOf(run);
  const { ForgetNode, RemoveShard } = performersOf(run);
  await run.perform({ HandOver });
  await run.perform({ ForgetNode });
  reached(run, 'NodesRemoved');
  await run.perform({ RemoveShard, RemoveReplica });
  reached(run, 'StatefulSetScaled');
}

/** After a growth: what an earlier, larger wish left goes, and so do members of an earlier life without a pod. */
export async function removeLeavers(run: ValkeyRun): Promise<void> {
  const { ForgetNode } = performersOf(run);
  const leave = run.input.plan.steps.some(({ kind }) => kind === 'RemoveShard' || kind === 'RemoveReplica');
  if (!leave) return run.perform({ ForgetNode });
  begin(run, 'ReplicaScaleDownDetected');
  await removeNodes(run);
}

/** Slots that only one side knows to be open are closed where they are served, with whatever keys had gone ahead. */
export async function closeSlots(run: ValkeyRun): Promise<void> {
  const { observed } = run;
  const owners = new Set(openSlots(observed).map(({ owner }) => owner));
  if (owners.size === 0 || !run.port.knows(CLOSES_SLOTS)) return;
  const masters = observed.nodes.filter((node) => node.ready && node.role === 'master');
  const access = buildAccess(observed.cluster);
  const servers = masters.map((node) => serverOf(observed, node));
  for (const owner of owners) {
    const summary = `slots of shard ${owner.shard} that were left open are closed`;
    const source = serverOf(observed, owner);
    await run.port.wait(summary).cancelValkeyMigrations({ access, source, servers });
  }
}

/** Nothing is done before every node says that the cluster is whole. */
export async function verifyCluster(run: ValkeyRun): Promise<void> {
  await run.perform(verifyHealth(run));
  reached(run, 'ClusterHealthy');
}
