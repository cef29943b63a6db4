import { failure, failureOf } from '../../shared/failures.ts';
import type { Lifecycle } from '../../shared/lifecycle.ts';
import type { OperationResult } from '../../shared/messages.ts';
import { runOperation, type Operation, type OperationInput } from '../../shared/operation.ts';
import { Stopped } from '../../shared/stopping.ts';
import { operationPort } from '../../shared/temporal-port.ts';
import type { ValkeyTypes } from '../../valkey-cluster/contract.ts';
import type { ValkeyStep } from '../../valkey-cluster/domain/commands.ts';
import { valkeyLifecycle } from '../../valkey-cluster/lifecycle.ts';
import { performersOf, reached, verifyHealth, type ValkeyRun } from '../../valkey-cluster/performers.ts';
import { refuseRollback } from '../domain/plan.ts';
import { isVersionOf, UPGRADE_KIND } from '../domain/resource.ts';
import { ShardCrew } from '../shard-crew.ts';
import { openUpgrade, type UpgradeCase } from '../upgrade-case.ts';
import { isFinal } from './upgrade-shard.ts';

/** Shard after shard, each by a workflow of its own, to the version that is wanted, or back. */
const operation = (name: 'upgrade' | 'rollback'): Operation<ValkeyTypes> => ({
  name,
  interruptible: ['VerifyHealth'],

  async run(run) {
    const upgrade = await openUpgrade(run, name);
    reached(run, 'SpecChanged', `${name} to ${upgrade.tag}, shard after shard`);
    try {
      await performShards(run, upgrade);
      // The shards' workflows have changed nearly every pod since this one looked.
      await run.observe();
      await run.perform(verifyHealth(run));
      await verifyVersions(run, upgrade);
      await upgrade.complete(run);
    } catch (error) {
      throw (await giveUp(run, upgrade, error)) ?? error;
    } finally {
      await upgrade.log.flush();
    }
    reached(run, 'ClusterHealthy');
  },
});

export const upgrade = operation('upgrade');
export const rollback = operation('rollback');

/** An operation for an upgrade serves that; whether the cluster's own spec changes meanwhile is for later. */
export const serving = ({ served }: OperationInput<ValkeyTypes>): Lifecycle<ValkeyTypes> => ({
  ...valkeyLifecycle,
  served: (observed) => (served.kind === UPGRADE_KIND ? served : valkeyLifecycle.served(observed)),
});

/** The workflow of one upgrade. */
export const upgradeValkeyCluster = (input: OperationInput<ValkeyTypes>): Promise<OperationResult> =>
  runOperation(operationPort<ValkeyTypes['activities']>(input.tuning), serving(input), upgrade, input);

/** The workflow of one way back. */
export const rollBackValkeyCluster = (input: OperationInput<ValkeyTypes>): Promise<OperationResult> =>
  runOperation(operationPort<ValkeyTypes['activities']>(input.tuning), serving(input), rollback, input);

async function performShards(run: ValkeyRun, upgrade: UpgradeCase): Promise<void> {
  const { ForgetNode } = performersOf(run);
  await run.perform({ ForgetNode });
  const crew = new ShardCrew(
    run,
    (shard) => upgrade.orderFor(run, shard),
    (shard) => upgrade.isUntouched(run.observed, shard),
    (news) => upgrade.hear(run, news),
  );
  const delegated = (step: ValkeyStep) =>
    crew.follow(step, (shard) => beforeShard(run, upgrade, crew, shard));
  try {
    await run.perform({
      CreateShard: delegated,
      AwaitPods: delegated,
      MeetNode: delegated,
      AttachReplica: delegated,
      RestartPod: delegated,
      HandOver: delegated,
      Snapshot: delegated,
      RemoveReplica: delegated,
    });
  } catch (error) {
    // Whatever follows plans from what is there, so nobody may change that any more.
    await run.port.shielded(() => crew.stop('the upgrade can not go on'));
    throw error;
  }
}

/** Between two shards: time to look at what the last one does, and a look at whether the upgrade is still wanted. */
async function beforeShard(
  run: ValkeyRun,
  upgrade: UpgradeCase,
  crew: ShardCrew,
  shard: number,
): Promise<void> {
  const stopping = (): boolean => run.progress.stopping !== null;
  const timeoutMs = upgrade.bakeMs(run.port.nowMs());
  if (timeoutMs > 0) {
    upgrade.log.note({
      message: `the last shard is watched for ${Math.ceil(timeoutMs / 1000)} s before the next begins`,
    });
    await run.port.until(stopping, { summary: 'watching before the next shard', timeoutMs });
    await run.safePoint();
  }
  await upgrade.awaitApproval(run, shard, () => crew.isBroken);
  const observed = await run.observe();
  if (observed.cluster.deleting)
    throw new Stopped({ why: 'superseded', reason: 'the cluster is being deleted' });
  if (upgrade.isTakenBack(observed)) {
    const reason = `spec.image.tag is ${upgrade.wish.from} again`;
    throw new Stopped({ why: 'cancelled', reason });
  }
  await upgrade.refuseOthers(run);
  run.tell(`${upgrade.direction} to ${upgrade.tag}, shard after shard`);
}

/** What the servers say of themselves counts, not what their pods were made with. */
async function verifyVersions(run: ValkeyRun, { tag, skipped }: UpgradeCase): Promise<void> {
  const { nodes } = await run.observe();
  const wrong = nodes.find((node) => !skipped.includes(node.shard) && !isVersionOf(node.version, tag));
  if (wrong !== undefined)
    throw failure('ValkeyUpgradeFailed', `${wrong.pod} says that it runs ${wrong.version}, not ${tag}`);
}

/**
 * Decides what becomes of an upgrade that can not go on: the way back while there is one, if that is wanted. Answers what
 * is to be thrown instead, when that is decided: what follows is planned at once, whatever the failure waits for.
 */
async function giveUp(run: ValkeyRun, upgrade: UpgradeCase, error: unknown): Promise<unknown> {
  const failed = failureOf(error);
  // A person may have wanted it to end in the very moment in which it failed; a defect is told as one.
  const asked = failed === null ? null : run.stop;
  const stop = error instanceof Stopped ? error.stop : asked;
  const cancelled = stop?.why === 'cancelled';
  const message = cancelled ? `cancelled: ${stop.reason}` : (failed?.message ?? String(error));
  const final = cancelled || (failed !== null && isFinal(failed));
  if (upgrade.direction === 'rollback' || !final) {
    // It is planned again from what is there; why an upgrade goes back stays said.
    upgrade.log.note({ reason: failed?.code ?? 'Interrupted', message });
    return null;
  }
  const noWayBack = upgrade.rollbackOnFailure
    ? refuseRollback(await run.port.shielded(() => run.observe()), upgrade.wish)
    : 'spec.rollbackOnFailure is false';
  if (noWayBack === null) upgrade.log.reached('RollbackStarted', { errorMessage: message });
  else if (upgrade.rollbackOnFailure && !cancelled) {
    const words = `past the point of no return, so it is repaired forward: ${noWayBack}`;
    upgrade.log.note({ reason: 'RepairsForward', message: words, errorMessage: message });
    return null;
  } else upgrade.fail(run, `${message}; it stays as it is: ${noWayBack}`);
  return cancelled ? new Stopped(stop) : failure('ValkeyUpgradeFailed', message);
}
