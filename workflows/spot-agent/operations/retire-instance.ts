import type { OperationResult } from '../../shared/messages.ts';
import { runOperation, type Operation, type OperationInput } from '../../shared/operation.ts';
import { operationPort } from '../../shared/temporal-port.ts';
import type { SpotTypes } from '../contract.ts';
import { spotLifecycle } from '../lifecycle.ts';
import { performersOf } from '../performers.ts';

/** Ends what was replaced: demoted it is already, EC2 ends it and confirms that, and its row follows. */
export const retireInstance: Operation<SpotTypes> = {
  name: 'retire-instance',
  interruptible: ['ConfirmTerminated'],

  async run(run) {
    const { CloseReplica, TerminateInstance, ConfirmTerminated, CloseInstance } = performersOf(run);
    run.reached('RetirementBegan');
    await run.perform({ CloseReplica });
    await run.perform({ TerminateInstance });
    await run.perform({ ConfirmTerminated });
    await run.perform({ CloseInstance });
    run.reached('RetirementDone');
  },
};

/** The workflow of one retirement. */
export const retireSpotInstance = (input: OperationInput<SpotTypes>): Promise<OperationResult> =>
  runOperation(operationPort<SpotTypes['activities']>(input.tuning), spotLifecycle, retireInstance, input);
