import { runOperation, type Operation, type OperationInput } from '../../shared/operation.ts';
import type { OperationResult } from '../../shared/messages.ts';
import { operationPort } from '../../shared/temporal-port.ts';
import { changePerformersOf } from '../change-performers.ts';
import type { ValkeyTypes } from '../contract.ts';
import { refusePhaseEvent, phaseFacts } from '../domain/phase-guards.ts';
import type { Event } from '../domain/phases.ts';
import { closeSlots } from '../flows.ts';
import { valkeyLifecycle } from '../lifecycle.ts';
import { applySharedObjects, performersOf, verifyHealth, type ValkeyRun } from '../performers.ts';
import { returningPerformersOf } from '../returning-pods.ts';

/** The change with which a repair is told of although the phase stays. */
const TELLS_AT_ONCE = 'valkey-tells-of-repair';

/** Brings back what was there: pods return, nodes find each other at new addresses, replicas follow their masters. */
export const heal: Operation<ValkeyTypes> = {
  name: 'heal',
  interruptible: ['AwaitPods', 'AttachReplica', 'VerifyHealth'],

  async run(run) {
    const { CreateShard, RestartPod, MeetNode, AttachReplica, ForgetNode } = performersOf(run);
    const { AwaitPods } = returningPerformersOf(run);
    const { HandOver, MigrateSlots } = changePerformersOf(run);
    // Degraded is for a cluster of which some nodes serve; with none, the phase stays and Available is False.
    if (!say(run, 'ReplicasDegraded') && run.port.knows(TELLS_AT_ONCE)) run.tell('heal is under way');

    await applySharedObjects(run);
    await run.perform({ HandOver });
    await run.perform({ CreateShard, RestartPod, AwaitPods });
    await run.observe();
    await run.perform({ MeetNode });
    await run.observe();
    await run.perform({ AttachReplica });
    await run.perform({ MigrateSlots });
    await run.perform({ ForgetNode });
    await closeSlots(run);

    await run.perform(verifyHealth(run));
    // A newer wish may still lack nodes: the phase is then for what carries it out.
    say(run, 'ClusterHealthy');
  },
};

/** The workflow of one repair. */
export const healValkeyCluster = (input: OperationInput<ValkeyTypes>): Promise<OperationResult> =>
  runOperation(operationPort<ValkeyTypes['activities']>(input.tuning), valkeyLifecycle, heal, input);

/** Says what the table and its guard allow to be said now, and nothing else; answers whether it was said. */
function say(run: ValkeyRun, event: Event): boolean {
  const refused = refusePhaseEvent(run.phase, event, phaseFacts(run.observed)) !== null;
  if (!refused) run.reached(event);
  return !refused;
}
