import type { Lifecycle } from '../../../workflows/shared/lifecycle.ts';
import type { Operation } from '../../../workflows/shared/operation.ts';
import type { WorkflowCode } from '../engine/execution.ts';
import { entityCode, operationCode } from '../workflow-code.ts';
import type { LampRowTypes } from './contract.ts';
import { lampRow } from './lifecycle.ts';
import { dim } from './operations/dim.ts';
import { dismantle } from './operations/dismantle.ts';
import { lightUp } from './operations/light-up.ts';

/** The workflows of the example on the simulator: the same code as in the bundle, on another port. */
export function simulatedWorkflows(
  lifecycle: Lifecycle<LampRowTypes> = lampRow,
  lighting: Operation<LampRowTypes> = lightUp,
): Readonly<Record<string, WorkflowCode>> {
  const operation = operationCode<LampRowTypes>(() => lifecycle);
  return {
    lampRow: entityCode(lifecycle),
    lampRowLightUp: operation(lighting),
    lampRowDim: operation(dim),
    lampRowDismantle: operation(dismantle),
  };
}
