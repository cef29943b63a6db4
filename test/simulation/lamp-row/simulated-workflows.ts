import { runEntity, type EntityInput } from '../../../workflows/shared/entity.ts';
import type { Lifecycle } from '../../../workflows/shared/lifecycle.ts';
import { runOperation, type Operation, type OperationInput } from '../../../workflows/shared/operation.ts';
import type { EntityPort, OperationPort } from '../../../workflows/shared/port.ts';
import type { WorkflowCode } from '../engine/execution.ts';
import type { LampRowActivities, LampRowTypes } from './contract.ts';
import { lampRow } from './lifecycle.ts';
import { dim } from './operations/dim.ts';
import { dismantle } from './operations/dismantle.ts';
import { lightUp } from './operations/light-up.ts';

/** The workflows of the example on the simulator: the same code as in the bundle, on another port. */
export function simulatedWorkflows(
  lifecycle: Lifecycle<LampRowTypes> = lampRow,
  lighting: Operation<LampRowTypes> = lightUp,
): Readonly<Record<string, WorkflowCode>> {
  const operation =
    (one: Operation<LampRowTypes>): WorkflowCode =>
    (port, input) =>
      runOperation(
        port as unknown as OperationPort<LampRowActivities>,
        lifecycle,
        one,
        input as unknown as OperationInput<LampRowTypes>,
      );
  return {
    lampRow: (port, input) =>
      runEntity(port as unknown as EntityPort<LampRowActivities>, lifecycle, input as unknown as EntityInput),
    lampRowLightUp: operation(lighting),
    lampRowDim: operation(dim),
    lampRowDismantle: operation(dismantle),
  };
}
