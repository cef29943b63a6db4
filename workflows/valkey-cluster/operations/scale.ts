import { runOperation, type Operation, type OperationInput } from '../../shared/operation.ts';
import type { OperationResult } from '../../shared/messages.ts';
import { operationPort } from '../../shared/temporal-port.ts';
import { partsOf } from '../change-performers.ts';
import type { ValkeyTypes } from '../contract.ts';
import {
  evacuateSlots,
  growCluster,
  rebalanceSlots,
  removeLeavers,
  removeNodes,
  verifyCluster,
} from '../flows.ts';
import { valkeyLifecycle } from '../lifecycle.ts';
import { undoOnCancel } from '../undo.ts';

/** Masters and replicas change together: what grows comes first, then slots move, then what leaves goes. */
export const scale: Operation<ValkeyTypes> = {
  name: 'scale',
  interruptible: ['AwaitPods', 'AttachReplica', 'MigrateSlots', 'VerifyHealth'],
  parts: partsOf,

  async run(run) {
    undoOnCancel(run);
    const kinds = new Set(run.input.plan.steps.map((step) => step.kind));
    if (kinds.has('CreateShard')) await growCluster(run);
    if (kinds.has('RemoveShard')) {
      await evacuateSlots(run);
      await removeNodes(run);
    } else {
      if (!kinds.has('CreateShard')) await growCluster(run);
      await rebalanceSlots(run);
      await removeLeavers(run);
    }
    await verifyCluster(run);
  },
};

/** The workflow of one change of masters and replicas. */
export const scaleValkeyCluster = (input: OperationInput<ValkeyTypes>): Promise<OperationResult> =>
  runOperation(operationPort<ValkeyTypes['activities']>(input.tuning), valkeyLifecycle, scale, input);
