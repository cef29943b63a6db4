import { runOperation, type Operation, type OperationInput } from '../../shared/operation.ts';
import type { OperationResult } from '../../shared/messages.ts';
import { operationPort } from '../../shared/temporal-port.ts';
import { partsOf } from '../change-performers.ts';
import type { ValkeyTypes } from '../contract.ts';
import { evacuateSlots, removeNodes, verifyCluster } from '../flows.ts';
import { valkeyLifecycle } from '../lifecycle.ts';
import { undoOnCancel } from '../undo.ts';

/** Fewer masters: the shards with the highest numbers give their slots away and go. */
export const scaleDown: Operation<ValkeyTypes> = {
  name: 'scale-down',
  interruptible: ['AwaitPods', 'AttachReplica', 'MigrateSlots', 'VerifyHealth'],
  parts: partsOf,

  async run(run) {
    undoOnCancel(run);
    await evacuateSlots(run);
    await removeNodes(run);
    await verifyCluster(run);
  },
};

/** The workflow of one scale-down. */
export const scaleDownValkeyCluster = (input: OperationInput<ValkeyTypes>): Promise<OperationResult> =>
  runOperation(operationPort<ValkeyTypes['activities']>(input.tuning), valkeyLifecycle, scaleDown, input);
