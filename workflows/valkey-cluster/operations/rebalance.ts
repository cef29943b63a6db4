import { runOperation, type Operation, type OperationInput } from '../../shared/operation.ts';
import type { OperationResult } from '../../shared/messages.ts';
import { operationPort } from '../../shared/temporal-port.ts';
import type { ValkeyTypes } from '../contract.ts';
import { valkeyLifecycle } from '../lifecycle.ts';
import { scaleUp } from './scale-up.ts';

/** The same masters with even shares, on demand or after an interruption: the runbook of a scale-up that adds no shard. */
export const rebalance: Operation<ValkeyTypes> = { ...scaleUp, name: 'rebalance' };

/** The workflow of one rebalancing. */
export const rebalanceValkeyCluster = (input: OperationInput<ValkeyTypes>): Promise<OperationResult> =>
  runOperation(operationPort<ValkeyTypes['activities']>(input.tuning), valkeyLifecycle, rebalance, input);
