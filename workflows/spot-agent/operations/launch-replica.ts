import type { OperationResult } from '../../shared/messages.ts';
import { runOperation, type Operation, type OperationInput } from '../../shared/operation.ts';
import { operationPort } from '../../shared/temporal-port.ts';
import type { SpotTypes } from '../contract.ts';
import { spotLifecycle } from '../lifecycle.ts';
import { performersOf } from '../performers.ts';

/** Launches replicas, several at once when time is short, and waits until the first says that it is ready. */
export const launchReplica: Operation<SpotTypes> = {
  name: 'launch-replica',
  interruptible: ['AwaitReplica'],

  async run(run) {
    const { LaunchReplica, AwaitReplica } = performersOf(run);
    run.reached('PreparationBegan');
    await run.perform({ LaunchReplica });
    await run.perform({ AwaitReplica });
    run.reached('ReplicaReady');
  },
};

/** The workflow of one preparation. */
export const launchSpotReplica = (input: OperationInput<SpotTypes>): Promise<OperationResult> =>
  runOperation(operationPort<SpotTypes['activities']>(input.tuning), spotLifecycle, launchReplica, input);
