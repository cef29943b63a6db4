import { runEntity, type EntityInput } from '../../workflows/shared/entity.ts';
import { runOperation, type OperationInput } from '../../workflows/shared/operation.ts';
import { entityPort, operationPort } from '../../workflows/shared/temporal-port.ts';
import type { LampRowActivities, LampRowTypes } from '../simulation/lamp-row/contract.ts';
import { lampRow as lifecycle } from '../simulation/lamp-row/lifecycle.ts';
import { dim } from '../simulation/lamp-row/operations/dim.ts';

// The example with a guard that is simply gone: `until` would have kept it for what it has decided.

const careless: typeof lifecycle = {
  ...lifecycle,
  guards: lifecycle.guards.filter(({ name }) => name !== 'Reader'),
};

export const lampRow = (input: EntityInput): Promise<void> =>
  runEntity(entityPort<LampRowActivities>(input?.tuning), careless, input);

export const lampRowDim = (input: OperationInput<LampRowTypes>): Promise<unknown> =>
  runOperation(operationPort<LampRowActivities>(input?.tuning), careless, dim, input);
