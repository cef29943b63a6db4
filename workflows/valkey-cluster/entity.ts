import { runEntity, type EntityInput } from '../shared/entity.ts';
import { failure } from '../shared/failures.ts';
import type { PlanEnvelope } from '../shared/plan.ts';
import { runPlan } from '../shared/planning.ts';
import { basicPort, entityPort } from '../shared/temporal-port.ts';
import type { ValkeyPlanInput, ValkeyTypes } from './contract.ts';
import type { ValkeyCommand } from './domain/commands.ts';
import { fillSpec, refuseSpec } from './domain/spec-defaults.ts';
import { valkeyLifecycle } from './lifecycle.ts';
import { withSkipShard } from '../valkey-upgrade/skip-shard.ts';

/** The only writer of one Valkey cluster. A person may start it with anything: the loop refuses it in words. */
export const valkeyCluster = (input: EntityInput): Promise<void> => {
  const { tuning } = (input as EntityInput | undefined) ?? {};
  const port = withSkipShard(entityPort<ValkeyTypes['activities']>(tuning));
  return runEntity(port, valkeyLifecycle, input);
};

/** What the cluster's entity would do now, or for another spec; it writes nothing. */
export const valkeyClusterPlan = (input: ValkeyPlanInput): Promise<PlanEnvelope<ValkeyCommand>> =>
  runPlan(basicPort<ValkeyTypes['activities']>(), valkeyLifecycle, input, (observed) => {
    if (input.spec === undefined) return observed;
    const spec = fillSpec(input.spec);
    const refusal = refuseSpec(spec);
    if (refusal !== null) throw failure('InvalidInput', refusal);
    return { ...observed, cluster: { ...observed.cluster, spec } };
  });
