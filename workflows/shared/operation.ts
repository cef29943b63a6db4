import { failure, failureOf, operationFailed } from './failures.ts';
import type { Failure } from './failure-codes.ts';
import type { Lifecycle, LifecycleTypes } from './lifecycle.ts';
import { entityId, type OperationResult, type Stop } from './messages.ts';
import type { OperationInput } from './operation-input.ts';
import { OperationRun, type Operation } from './operation-run.ts';
import { refuseWrongRef } from './planning.ts';
import type { OperationPort } from './port.ts';
import { Stopped } from './stopping.ts';

export type { OperationInput, Tuning } from './operation-input.ts';
export type { Operation, OperationRun, Performers } from './operation-run.ts';

/** Runs one operation to its end, whatever ends it, and says what became of it. */
export async function runOperation<T extends LifecycleTypes>(
  port: OperationPort<T['activities']>,
  lifecycle: Lifecycle<T>,
  operation: Operation<T>,
  input: OperationInput<T>,
): Promise<OperationResult> {
  refuseWrongInput(port.workflowId, lifecycle.name, input);
  const run = new OperationRun(port, lifecycle, operation, input);
  try {
    return await carryOut(port, operation, run);
  } catch (error) {
    const failed = failureOf(error);
    if (failed?.code === 'GuardBlocked') return run.finish('blocked', failed.message, failed);
    // A defect is told on the resource and ends the run: parked, it would block every newer wish as well.
    const told = failed ?? (await run.tellDefect(error));
    throw operationFailed(told, await run.failed(told));
  }
}

async function carryOut<T extends LifecycleTypes>(
  port: OperationPort<T['activities']>,
  operation: Operation<T>,
  run: OperationRun<T>,
): Promise<OperationResult> {
  try {
    await operation.run(run);
    return await run.finish('done', `${operation.name} is done`);
  } catch (error) {
    const stop = stopOf(error, failureOf(error), port.cancelled());
    if (stop === null) throw error;
    return await port.shielded(async () => {
      await run.windUp(stop);
      return run.finish(stop.why, stop.reason);
    });
  }
}

/** Whether what was thrown is the operation's own stop, or a cancellation from outside, whatever that broke. */
function stopOf(error: unknown, failed: Failure | null, cancelled: boolean): Stop | null {
  if (error instanceof Stopped) return error.stop;
  if (failed?.code !== 'Cancelled' && !(cancelled && failed !== null)) return null;
  return { why: 'cancelled', reason: 'the operation was cancelled from outside' };
}

function refuseWrongInput<T extends LifecycleTypes>(
  workflowId: string,
  lifecycle: string,
  input: OperationInput<T>,
): void {
  const entity = entityId(lifecycle, refuseWrongRef(input));
  const { plan, served } = input as Partial<OperationInput<T>>;
  if (plan === undefined || served === undefined || !workflowId.startsWith(`${entity}/`)) {
    throw failure(
      'InvalidInput',
      `operations are started by ${entity} only: start that one, or send it a hint`,
    );
  }
}
