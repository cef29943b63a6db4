import type { StackHandle } from '../../../deploy/local/testing.ts';
import type { ClusterWorld } from '../../valkey/cluster-world.ts';
import type { FaultOperation } from '../operation.ts';
import { valkeyCreate } from './valkey-create.ts';
import { valkeyDelete } from './valkey-delete.ts';
import { valkeyHeal } from './valkey-heal.ts';
import { valkeyReplicas } from './valkey-replicas.ts';
import { valkeyScaleDown } from './valkey-scale-down.ts';
import { valkeyScaleUp } from './valkey-scale-up.ts';
import { valkeyRollback, valkeyUpgrade } from './valkey-upgrade.ts';

/** Every operation that has a campaign, by the name that people type. */
export const OPERATIONS: Readonly<Record<string, (stack: StackHandle) => FaultOperation<ClusterWorld>>> = {
  'valkey-create': valkeyCreate,
  'valkey-delete': valkeyDelete,
  'valkey-heal': valkeyHeal,
  'valkey-replicas': valkeyReplicas,
  'valkey-rollback': valkeyRollback,
  'valkey-scale-down': valkeyScaleDown,
  'valkey-scale-up': valkeyScaleUp,
  'valkey-upgrade': valkeyUpgrade,
};
