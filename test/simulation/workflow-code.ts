import { runEntity, type EntityInput } from '../../workflows/shared/entity.ts';
import type { Lifecycle, LifecycleTypes } from '../../workflows/shared/lifecycle.ts';
import { runOperation, type Operation, type OperationInput } from '../../workflows/shared/operation.ts';
import type { EntityPort, OperationPort } from '../../workflows/shared/port.ts';
import type { WorkflowCode } from './engine/execution.ts';

/** An entity on the simulator: the same code as in the bundle, on another port. */
export const entityCode =
  <T extends LifecycleTypes>(lifecycle: Lifecycle<T>): WorkflowCode =>
  (port, input) =>
    runEntity(port as unknown as EntityPort<T['activities']>, lifecycle, input as unknown as EntityInput);

/** An operation on the simulator, of a lifecycle that may depend on what the operation is given. */
export const operationCode =
  <T extends LifecycleTypes>(lifecycleFor: (input: OperationInput<T>) => Lifecycle<T>) =>
  (operation: Operation<T>): WorkflowCode =>
  (port, input) => {
    const given = input as unknown as OperationInput<T>;
    return runOperation(
      port as unknown as OperationPort<T['activities']>,
      lifecycleFor(given),
      operation,
      given,
    );
  };
