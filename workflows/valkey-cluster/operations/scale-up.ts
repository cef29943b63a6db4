import { runOperation, type Operation, type OperationInput } from '../../shared/operation.ts';
import type { OperationResult } from '../../shared/messages.ts';
import { operationPort } from '../../shared/temporal-port.ts';
import { partsOf } from '../change-performers.ts';
import type { ValkeyTypes } from '../contract.ts';
import { growCluster, rebalanceSlots, removeLeavers, verifyCluster } from '../flows.ts';
import { valkeyLifecycle } from '../lifecycle.ts';
import { undoOnCancel } from '../undo.ts';

/** More masters: new shards come with their replicas, and take their share of the slots. */
export const scaleUp: Operation<ValkeyTypes> = {
  name: 'scale-up',
  interruptible: ['AwaitPods', 'AttachReplica', 'MigrateSlots', 'VerifyHealth'],
  parts: partsOf,

  async run(run) {
    undoOnCancel(run);
    await growCluster(run);
    await rebalanceSlots(run);
    await removeLeavers(run);
    await verifyCluster(run);
  },
};

/** The workflow of one scale-up. */
export const scaleUpValkeyCluster = (input: OperationInput<ValkeyTypes>): Promise<OperationResult> =>
  runOperation(operationPort<ValkeyTypes['activities']>(input.tuning), valkeyLifecycle, scaleUp, input);
