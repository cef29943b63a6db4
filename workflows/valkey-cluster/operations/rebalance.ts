import { runOperation, type Operation, type OperationInput } from '../../shared/operation.ts';
import type { OperationResult } from '../../shared/messages.ts';
import { operationPort } from '../../shared/temporal-port.ts';
import { partsOf } from '../change-performers.ts';
import type { ValkeyTypes } from '../contract.ts';
import { growCluster, rebalanceSlots, verifyCluster } from '../flows.ts';
import { performersOf } from '../performers.ts';
import { valkeyLifecycle } from '../lifecycle.ts';
import { undoOnCancel } from '../undo.ts';

/** The same masters with even shares: on demand, or because a change was interrupted half-way. */
export const rebalance: Operation<ValkeyTypes> = {
  name: 'rebalance',
  interruptible: ['AwaitPods', 'AttachReplica', 'MigrateSlots', 'VerifyHealth'],
  parts: partsOf,

  async run(run) {
    undoOnCancel(run);
    await growCluster(run);
    await rebalanceSlots(run);
    const { ForgetNode } = performersOf(run);
    await run.perform({ ForgetNode });
    await verifyCluster(run);
  },
};

/** The workflow of one rebalancing. */
export const rebalanceValkeyCluster = (input: OperationInput<ValkeyTypes>): Promise<OperationResult> =>
  runOperation(operationPort<ValkeyTypes['activities']>(input.tuning), valkeyLifecycle, rebalance, input);
