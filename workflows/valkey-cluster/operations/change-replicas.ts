import { runOperation, type Operation, type OperationInput } from '../../shared/operation.ts';
import type { OperationResult } from '../../shared/messages.ts';
import { operationPort } from '../../shared/temporal-port.ts';
import { changePerformersOf, partsOf } from '../change-performers.ts';
import type { ValkeyTypes } from '../contract.ts';
import {
  begin,
  growCluster,
  mendNodes,
  rebalanceSlots,
  removeLeavers,
  removeNodes,
  verifyCluster,
} from '../flows.ts';
import { valkeyLifecycle } from '../lifecycle.ts';
import { undoOnCancel } from '../undo.ts';

/** The same masters with more replicas, or with fewer. */
export const changeReplicas: Operation<ValkeyTypes> = {
  name: 'change-replicas',
  interruptible: ['AwaitPods', 'AttachReplica', 'MigrateSlots', 'VerifyHealth'],
  parts: partsOf,

  async run(run) {
    undoOnCancel(run);
    const { MigrateSlots } = changePerformersOf(run);
    const shrinks = run.input.plan.steps.some((step) => step.kind === 'RemoveReplica');
    if (shrinks) {
      begin(run, 'ReplicaScaleDownDetected');
      await mendNodes(run);
      await run.perform({ MigrateSlots });
      await removeNodes(run);
    } else {
      await growCluster(run);
      await rebalanceSlots(run);
      await removeLeavers(run);
    }
    await verifyCluster(run);
  },
};

/** The workflow of one change of replicas. */
export const changeValkeyReplicas = (input: OperationInput<ValkeyTypes>): Promise<OperationResult> =>
  runOperation(
    operationPort<ValkeyTypes['activities']>(input.tuning),
    valkeyLifecycle,
    changeReplicas,
    input,
  );
