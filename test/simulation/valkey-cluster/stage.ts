import type { Hint } from '../../../workflows/shared/messages.ts';
import type { OperationPort } from '../../../workflows/shared/port.ts';
import { valkeyClusterId, type ValkeyTypes } from '../../../workflows/valkey-cluster/contract.ts';
import { countSlots } from '../../../workflows/valkey-cluster/domain/slots.ts';
import { valkeyLifecycle } from '../../../workflows/valkey-cluster/lifecycle.ts';
import { create } from '../../../workflows/valkey-cluster/operations/create.ts';
import { deleteCluster } from '../../../workflows/valkey-cluster/operations/delete.ts';
import { scaleUp } from '../../../workflows/valkey-cluster/operations/scale-up.ts';
import { scaleDown } from '../../../workflows/valkey-cluster/operations/scale-down.ts';
import { changeReplicas } from '../../../workflows/valkey-cluster/operations/change-replicas.ts';
import { scale } from '../../../workflows/valkey-cluster/operations/scale.ts';
import { rebalance } from '../../../workflows/valkey-cluster/operations/rebalance.ts';
import { restart } from '../../../workflows/valkey-cluster/operations/restart.ts';
import { rotate } from '../../../workflows/valkey-cluster/operations/rotate.ts';
import { heal } from '../../../workflows/valkey-cluster/operations/heal.ts';
import type { ShardInput, ShardTypes } from '../../../workflows/valkey-upgrade/contract.ts';
import { rollback, serving, upgrade } from '../../../workflows/valkey-upgrade/operations/upgrade.ts';
import { runShard } from '../../../workflows/valkey-upgrade/operations/upgrade-shard.ts';
import type { ActivityImplementation } from '../engine/attempts.ts';
import { Engine, type EngineOptions } from '../engine/engine.ts';
import type { WorkflowCode } from '../engine/execution.ts';
import { entityCode, operationCode } from '../workflow-code.ts';
import { createSimulatedActivities } from './activities.ts';
import { REF, ValkeyWorld } from './world.ts';

/** The id of the simulated cluster's workflow. */
export const ID = valkeyClusterId(REF);
/** As long as anything may take. */
export const HOUR_MS = 3_600_000;

const operation = operationCode<ValkeyTypes>(() => valkeyLifecycle);
const serves = operationCode<ValkeyTypes>(serving);

const WORKFLOWS: Readonly<Record<string, WorkflowCode>> = {
  valkeyCluster: entityCode(valkeyLifecycle),
  createValkeyCluster: operation(create),
  healValkeyCluster: operation(heal),
  restartValkeyCluster: operation(restart),
  rotateValkeySecrets: operation(rotate),
  rebalanceValkeyCluster: operation(rebalance),
  scaleValkeyCluster: operation(scale),
  changeValkeyReplicas: operation(changeReplicas),
  scaleDownValkeyCluster: operation(scaleDown),
  scaleUpValkeyCluster: operation(scaleUp),
  deleteValkeyCluster: operation(deleteCluster),
  upgradeValkeyCluster: serves(upgrade),
  rollBackValkeyCluster: serves(rollback),
  upgradeValkeyShard: (port, input) =>
    runShard(port as unknown as OperationPort<ShardTypes['activities']>, input as unknown as ShardInput),
};

/** A simulated world, the engine that plays the lifecycle in it, and words for tests. */
export function openStage(options: Partial<EngineOptions> = {}) {
  const world = new ValkeyWorld();
  const engine = new Engine({
    seed: 'valkey',
    workflows: WORKFLOWS,
    activities: createSimulatedActivities(world) as unknown as Readonly<
      Record<string, ActivityImplementation>
    >,
    ...options,
  });
  const hint = (news: Hint): void =>
    engine.signalWithStart('valkeyCluster', ID, { ref: REF }, { name: 'hint', input: news });
  const until = async (what: string, holds: () => boolean): Promise<void> => {
    if (await engine.until(holds, HOUR_MS)) return;
    throw new Error(`it never came to pass that ${what}:\n${engine.journal.lines.slice(-30).join('\n')}`);
  };
  const settles = (phase: string): Promise<void> =>
    until(
      `the phase is ${phase}`,
      () => world.phases.at(-1) === phase && world.resource?.status['currentOperation'] === undefined,
    );
  return { world, engine, hint, until, settles };
}

/** How many slots each shard serves, smallest first. */
export const sharesOf = (world: ValkeyWorld): readonly number[] =>
  world.pods
    .map((pod) => countSlots(world.server(pod.name).slots))
    .filter((slots) => slots > 0)
    .toSorted((a, b) => a - b);
