import { runEntity, type EntityInput } from '../../../workflows/shared/entity.ts';
import { runPlan } from '../../../workflows/shared/planning.ts';
import type { ResourceRef } from '../../../workflows/shared/messages.ts';
import { runOperation, type Operation, type OperationInput } from '../../../workflows/shared/operation.ts';
import { basicPort, entityPort, operationPort } from '../../../workflows/shared/temporal-port.ts';
import type { LampRowActivities, LampRowTypes } from './contract.ts';
import { lampRow as lifecycle } from './lifecycle.ts';
import { dim } from './operations/dim.ts';
import { dismantle } from './operations/dismantle.ts';
import { lightUp } from './operations/light-up.ts';

type Input = OperationInput<LampRowTypes>;

const run = (operation: Operation<LampRowTypes>, input: Input): Promise<unknown> =>
  runOperation(operationPort<LampRowActivities>(input?.tuning), lifecycle, operation, input);

/** The entity of one row. */
export const lampRow = (input: EntityInput): Promise<void> =>
  runEntity(entityPort<LampRowActivities>(input?.tuning), lifecycle, input);

/** What would be done for a row now, or if it wanted another number of lamps. */
export const lampRowPlan = (input: {
  readonly ref: ResourceRef;
  readonly wanted?: number;
}): Promise<unknown> =>
  runPlan(basicPort<LampRowActivities>(), lifecycle, input, (row) => ({
    ...row,
    wanted: input.wanted ?? row.wanted,
  }));

export const lampRowLightUp = (input: Input): Promise<unknown> => run(lightUp, input);
export const lampRowDim = (input: Input): Promise<unknown> => run(dim, input);
export const lampRowDismantle = (input: Input): Promise<unknown> => run(dismantle, input);
