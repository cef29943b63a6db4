import type { OperationResult } from '../../shared/messages.ts';
import { runOperation, type Operation, type OperationInput } from '../../shared/operation.ts';
import { operationPort } from '../../shared/temporal-port.ts';
import type { SpotTypes } from '../contract.ts';
import { spotLifecycle } from '../lifecycle.ts';
import { performersOf } from '../performers.ts';

/** Makes a replica PRIMARY: the database compares the epoch, demotes and promotes in one transaction. */
export const failOver: Operation<SpotTypes> = {
  name: 'fail-over',
  interruptible: [],

  async run(run) {
    const { Promote } = performersOf(run);
    run.reached('FailOverBegan');
    await run.perform({ Promote });
    run.reached('PromotionCommitted');
  },
};

/** The workflow of one fail-over. */
export const failOverSpotAgent = (input: OperationInput<SpotTypes>): Promise<OperationResult> =>
  runOperation(operationPort<SpotTypes['activities']>(input.tuning), spotLifecycle, failOver, input);
