import type { Lifecycle, View } from '../shared/lifecycle.ts';
import { emptyPlan } from '../shared/plan.ts';
import { KIND, LIFECYCLE } from '../valkey-cluster/contract.ts';
import { valkeyLifecycle } from '../valkey-cluster/lifecycle.ts';
import type { ShardInput, ShardTypes } from './contract.ts';
import { SHARD_TABLE } from './domain/shard-states.ts';

/**
 * One shard's part of an upgrade as a lifecycle of its own: it goes through the states of the specification, looks at the
 * whole cluster, and tells the upgrade instead of writing a status.
 */
export const shardLifecycle = (
  { served, order }: ShardInput,
  tell: (view: View<ShardTypes>) => Promise<void>,
): Lifecycle<ShardTypes> => ({
  name: LIFECYCLE,
  kind: KIND,
  initialPhase: 'Pending',
  table: SHARD_TABLE,
  events: {
    failed: 'ShardFailed',
    recovered: 'ShardInterrupted',
    superseded: 'ShardInterrupted',
    cancelled: 'ShardInterrupted',
  },
  guards: valkeyLifecycle.guards,
  operations: {},
  observe: (port, ref) => valkeyLifecycle.observe(port, ref),
  served: () => served,
  plan: () => emptyPlan(1),
  settle: () => [],
  lost: () => null,
  summary: () => `shard ${order.shard} to ${order.tag}`,
  conditions: () => [],
  report: (_, view) => tell(view),
  announce: async () => {},
});
