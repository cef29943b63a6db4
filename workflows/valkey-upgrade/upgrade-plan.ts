import { failure } from '../shared/failures.ts';
import type { PlanEnvelope } from '../shared/plan.ts';
import { runPlan } from '../shared/planning.ts';
import { basicPort } from '../shared/temporal-port.ts';
import type { ValkeyTypes } from '../valkey-cluster/contract.ts';
import type { ValkeyCommand } from '../valkey-cluster/domain/commands.ts';
import { valkeyLifecycle } from '../valkey-cluster/lifecycle.ts';
import type { UpgradePlanInput } from './contract.ts';
import { withUpgrade } from './domain/wish.ts';

/** What the cluster's entity would do for an upgrade that nobody has created yet; it writes nothing. */
export const valkeyUpgradePlan = (input: UpgradePlanInput): Promise<PlanEnvelope<ValkeyCommand>> =>
  runPlan(basicPort<ValkeyTypes['activities']>(), valkeyLifecycle, input, (observed) => {
    const wished = withUpgrade(observed, input.upgrade.name, input.upgrade.spec);
    if ('refused' in wished) throw failure('InvalidInput', wished.refused);
    return wished.observed;
  });
