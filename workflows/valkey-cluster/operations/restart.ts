import { runOperation, type Operation, type OperationInput } from '../../shared/operation.ts';
import type { OperationResult } from '../../shared/messages.ts';
import { operationPort } from '../../shared/temporal-port.ts';
import { changePerformersOf, partsOf, restartPerformersOf } from '../change-performers.ts';
import type { ValkeyTypes } from '../contract.ts';
import { verifyCluster } from '../flows.ts';
import { valkeyLifecycle } from '../lifecycle.ts';
import { applySharedObjects, performersOf, reached } from '../performers.ts';

/** One pod after the other is created anew: replicas first, and a master hands its shard over before its own pod goes. */
export const restart: Operation<ValkeyTypes> = {
  name: 'restart',
  interruptible: ['VerifyHealth'],
  parts: partsOf,

  async run(run) {
    const { CreateShard } = performersOf(run);
    const { HandOver } = changePerformersOf(run);
    const { RestartPod } = restartPerformersOf(run);
    reached(run, 'SpecChanged', 'pods are restarted one after the other');
    await applySharedObjects(run);
    await run.perform({ CreateShard });
    await run.observe();
    await run.perform({ RestartPod, HandOver });
    await verifyCluster(run);
  },
};

/** The workflow of one rolling restart. */
export const restartValkeyCluster = (input: OperationInput<ValkeyTypes>): Promise<OperationResult> =>
  runOperation(operationPort<ValkeyTypes['activities']>(input.tuning), valkeyLifecycle, restart, input);
