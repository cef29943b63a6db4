import { runOperation, type Operation, type OperationInput } from '../../shared/operation.ts';
import type { OperationResult } from '../../shared/messages.ts';
import { operationPort } from '../../shared/temporal-port.ts';
import type { ValkeyTypes } from '../contract.ts';
import { valkeyLifecycle } from '../lifecycle.ts';
import { secretPerformersOf } from '../secret-performers.ts';

/** Running servers take what the Secrets say by now: the new password beside the old, new users; and at last not the old password. */
export const rotate: Operation<ValkeyTypes> = {
  name: 'rotate',
  interruptible: [],

  async run(run) {
    await run.perform(secretPerformersOf(run));
  },
};

/** The workflow of one part of a rotation. */
export const rotateValkeySecrets = (input: OperationInput<ValkeyTypes>): Promise<OperationResult> =>
  runOperation(operationPort<ValkeyTypes['activities']>(input.tuning), valkeyLifecycle, rotate, input);
