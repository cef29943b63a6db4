import { patched } from '@temporalio/workflow';
import { runEntity, type EntityInput } from '../../../workflows/shared/entity.ts';
import { runOperation, type Operation, type OperationInput } from '../../../workflows/shared/operation.ts';
import { entityPort, operationPort } from '../../../workflows/shared/temporal-port.ts';
import type { LampRowActivities, LampRowTypes } from '../../simulation/lamp-row/contract.ts';
import { lampRow as lifecycle } from '../../simulation/lamp-row/lifecycle.ts';
import { dim } from '../../simulation/lamp-row/operations/dim.ts';
import { dismantle } from '../../simulation/lamp-row/operations/dismantle.ts';
import { lightUp } from '../../simulation/lamp-row/operations/light-up.ts';

// The example's next version, changed as it may be changed: what is new is done by runs that began with it.

const careful: Operation<LampRowTypes> = {
  ...lightUp,
  async run(run) {
    if (patched('look-first')) await run.observe();
    await lightUp.run(run);
    run.note({ version: 2 });
  },
};

/** It no longer minds that a row wants more lamps than it has sockets: there will be as many as fit. */
const lenient: typeof lifecycle = {
  ...lifecycle,
  guards: lifecycle.guards.map((guard) =>
    guard.name === 'Sockets' ? { ...guard, until: 'as-many-as-fit' } : guard,
  ),
};

type Input = OperationInput<LampRowTypes>;
const run = (operation: Operation<LampRowTypes>, input: Input): Promise<unknown> =>
  runOperation(operationPort<LampRowActivities>(input?.tuning), lenient, operation, input);

export const lampRow = (input: EntityInput): Promise<void> =>
  runEntity(entityPort<LampRowActivities>(input?.tuning), lenient, input);
export const lampRowLightUp = (input: Input): Promise<unknown> => run(careful, input);
export const lampRowDim = (input: Input): Promise<unknown> => run(dim, input);
export const lampRowDismantle = (input: Input): Promise<unknown> => run(dismantle, input);
