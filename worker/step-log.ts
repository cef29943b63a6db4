import type { InjectedSinks } from '@temporalio/worker';
import type { WorkflowInfo } from '@temporalio/workflow';
import type { Logger } from 'pino';
import type { KeelsonSinks } from '../workflows/shared/sinks.ts';

/** Adds a line of the log, with the workflow's id, to all that workflows tell: steps, operations, refusals and waits. */
export function logSteps(
  { keelson }: InjectedSinks<KeelsonSinks>,
  logger: Logger,
): InjectedSinks<KeelsonSinks> {
  const of = ({ workflowId, runId }: WorkflowInfo): object => ({ workflowId, runId });
  return {
    keelson: {
      operationEnded: {
        async fn(info, labels, seconds) {
          await keelson.operationEnded.fn(info, labels, seconds);
          const line = { ...of(info), ...labels, seconds };
          if (labels.outcome === 'failed') logger.warn(line, 'operation failed');
          else logger.info(line, `operation ${labels.outcome}`);
        },
      },
      stepEnded: {
        async fn(info, labels, seconds) {
          await keelson.stepEnded.fn(info, labels, seconds);
          const { lifecycle, kind: step, outcome } = labels;
          logger.info({ ...of(info), lifecycle, step, outcome, seconds }, `step ${outcome}`);
        },
      },
      guardBlocked: {
        async fn(info, labels) {
          await keelson.guardBlocked.fn(info, labels);
          logger.info({ ...of(info), ...labels }, 'blocked by a guard');
        },
      },
      waited: {
        async fn(info, labels, seconds) {
          await keelson.waited.fn(info, labels, seconds);
          logger.debug({ ...of(info), ...labels, seconds }, 'waited');
        },
      },
    },
  };
}
