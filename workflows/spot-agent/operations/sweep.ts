import type { OperationResult } from '../../shared/messages.ts';
import { runOperation, type Operation, type OperationInput } from '../../shared/operation.ts';
import { operationPort } from '../../shared/temporal-port.ts';
import type { SpotTypes } from '../contract.ts';
import { spotLifecycle } from '../lifecycle.ts';
import { performersOf } from '../performers.ts';

/** Heals what rows and instances disagree on, in both directions, and forgets notices that are over. */
export const sweepAgent: Operation<SpotTypes> = {
  name: 'sweep',
  interruptible: ['ConfirmTerminated'],

  async run(run) {
    const { ClearNotice, AdoptInstance, CloseReplica } = performersOf(run);
    const { TerminateInstance, ConfirmTerminated, CloseInstance } = performersOf(run);
    run.reached('RetirementBegan');
    await run.perform({ ClearNotice, AdoptInstance, CloseReplica, TerminateInstance, CloseInstance });
    await run.perform({ ConfirmTerminated });
    run.reached('RetirementDone');
  },
};

/** The workflow of one sweep. */
export const sweepSpotAgent = (input: OperationInput<SpotTypes>): Promise<OperationResult> =>
  runOperation(operationPort<SpotTypes['activities']>(input.tuning), spotLifecycle, sweepAgent, input);
