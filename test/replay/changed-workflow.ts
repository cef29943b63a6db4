import { runEntity, type EntityInput } from '../../workflows/shared/entity.ts';
import { runOperation, type Operation, type OperationInput } from '../../workflows/shared/operation.ts';
import { entityPort, operationPort } from '../../workflows/shared/temporal-port.ts';
import type { LampRowActivities, LampRowTypes } from '../simulation/lamp-row/contract.ts';
import { lampRow as lifecycle } from '../simulation/lamp-row/lifecycle.ts';
import { lightUp } from '../simulation/lamp-row/operations/light-up.ts';

// The example, changed as it may not be changed: runs that are under way would not know where they are.

/** Looks again before it begins. */
const hasty: Operation<LampRowTypes> = {
  ...lightUp,
  async run(run) {
    await run.observe();
    await lightUp.run(run);
  },
};

/** Tells of everything before it acts on it. */
const chatty: typeof lifecycle = {
  ...lifecycle,
  async observe(port, ref) {
    const row = await lifecycle.observe(port, ref);
    if (row !== null) await port.act('again').observeLampRow(ref);
    return row;
  },
};

export const lampRow = (input: EntityInput): Promise<void> =>
  runEntity(entityPort<LampRowActivities>(input?.tuning), chatty, input);

export const lampRowLightUp = (input: OperationInput<LampRowTypes>): Promise<unknown> =>
  runOperation(operationPort<LampRowActivities>(input?.tuning), lifecycle, hasty, input);
