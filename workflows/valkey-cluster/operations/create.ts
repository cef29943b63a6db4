import { runOperation, type Operation, type OperationInput } from '../../shared/operation.ts';
import type { OperationResult } from '../../shared/messages.ts';
import { operationPort } from '../../shared/temporal-port.ts';
import { changePerformersOf } from '../change-performers.ts';
import type { ValkeyTypes } from '../contract.ts';
import { valkeyLifecycle } from '../lifecycle.ts';
import { applySharedObjects, performersOf, reached, verifyHealth } from '../performers.ts';
import { keepPassword } from '../secret-performers.ts';

/** From nothing, or from wherever an earlier attempt ended, to a cluster that serves all its slots. */
export const create: Operation<ValkeyTypes> = {
  name: 'create',
  interruptible: ['AwaitPods', 'AttachReplica', 'VerifyHealth'],

  async run(run) {
    const { CreateShard, AwaitPods, MeetNode, AssignSlots } = performersOf(run);
    const { AttachReplica, ForgetNode, RemoveShard, RestartPod } = performersOf(run);
    const { MigrateSlots, HandOver, RemoveReplica } = changePerformersOf(run);
    if (run.phase !== 'Pending') reached(run, 'RecoveryInitiated', 'the creation goes on from what is there');

    await applySharedObjects(run);
    await keepPassword(run);
    reached(run, 'ResourcesApplied');
    await run.perform({ CreateShard });
    reached(run, 'StatefulSetReady');

    // Pods of an earlier wish that can not start are made anew.
    await run.perform({ RestartPod, AwaitPods });
    await run.observe();
    reached(run, 'PodsRunning');

    await run.perform({ MeetNode });
    reached(run, 'ClusterMeetComplete');
    await run.perform({ AssignSlots });
    reached(run, 'SlotsAssigned');

    await run.observe();
    await run.perform({ AttachReplica });
    // Shards and replicas that a smaller wish, come in the middle, has no use for; they may serve slots already.
    await run.perform({ MigrateSlots, HandOver, ForgetNode, RemoveShard, RemoveReplica });
    reached(run, 'ReplicasConfigured');

    await run.perform(verifyHealth(run));
    reached(run, 'ClusterHealthy');
  },
};

/** The workflow of one creation. */
export const createValkeyCluster = (input: OperationInput<ValkeyTypes>): Promise<OperationResult> =>
  runOperation(operationPort<ValkeyTypes['activities']>(input.tuning), valkeyLifecycle, create, input);
