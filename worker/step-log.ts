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
        fn(info, labels, seconds) {
          keelson.operationEnded.fn(info, labels, seconds);
          const line = { ...of(info), ...labels, seconds };
          if (labels.outcome === 'failed') logger.warn(line, 'operation failed');
          else logger.info(line, `operation ${labels.outcome}`);
        },
      },
      stepEnded: {
        fn(info, labels, seconds) {
          keelson.stepEnded.fn(info, labels, seconds);
          const { lifecycle, kind: step, outcome } = labels;
          logger.info({ ...of(info), lifecycle, step, outcome, seconds }, `step ${outcome}`);
        },
      },
      guardBlocked: {
        fn(info, labels) {
          keelson.guardBlocked.fn(info, labels);
          logger.info({ ...of(info), ...labels }, 'blocked by a guard');
        },
      },
      waited: {
        fn(info, labels, seconds) {
          keelson.waited.fn(info, labels, seconds);
          logger.debug({ ...of(info), ...labels, seconds }, 'waited');
        },
      },
    },
  };
}
