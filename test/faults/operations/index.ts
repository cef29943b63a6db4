import type { StackHandle } from '../../../deploy/local/testing.ts';
import type { ClusterWorld } from '../../valkey/cluster-world.ts';
import type { FaultOperation } from '../operation.ts';
import { valkeyCreate } from './valkey-create.ts';
import { valkeyDelete } from './valkey-delete.ts';

/** Every operation that has a campaign, by the name that people type. */
export const OPERATIONS: Readonly<Record<string, (stack: StackHandle) => FaultOperation<ClusterWorld>>> = {
  'valkey-create': valkeyCreate,
  'valkey-delete': valkeyDelete,
};
