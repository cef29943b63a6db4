import { randomUUID } from 'node:crypto';
import { WorkflowFailedError } from '@temporalio/client';
import { SearchAttributeType, TypedSearchAttributes, defineSearchAttributeKey } from '@temporalio/common';
import { SEARCH_ATTRIBUTES, TASK_QUEUE } from '../../workflows/shared/messages.ts';
import { grpcCodeOf } from '../temporal-errors.ts';
import { CliError } from './cli-error.ts';
import type { RenderablePlan } from './render/plan-text.ts';
import type { Target } from './target.ts';
import { withTemporal } from './temporal-session.ts';

/** How long after the deadline the engine forgets a dry run that nobody picked up. */
const SPARE_MS = 5_000;

/** What a dry run is asked beside the resource: nothing, another spec, or a wish for it. */
export type AskedPlan = Readonly<Record<string, unknown>>;

/** Plans from the live cluster by a dry-run workflow of its own id, which writes nothing. */
export async function planLive(
  target: Target,
  asked: AskedPlan,
  { deadlineMs, taskQueue }: { readonly deadlineMs: number; readonly taskQueue?: string },
): Promise<RenderablePlan> {
  return withTemporal(deadlineMs, async ({ client }) => {
    try {
      return await client.withDeadline(Date.now() + deadlineMs, () =>
        client.workflow.execute<(input: object) => Promise<RenderablePlan>>(`${target.workflowType}Plan`, {
          workflowId: `${target.workflowId}/plan/${randomUUID()}`,
          taskQueue: taskQueue ?? TASK_QUEUE,
          args: [{ ref: target.ref, ...asked }],
          workflowExecutionTimeout: deadlineMs + SPARE_MS,
          staticSummary: `dry run of ${target.kind} ${target.ref.namespace}/${target.ref.name}`.slice(0, 200),
          typedSearchAttributes: searchAttributesOf(target),
        }),
      );
    } catch (error) {
      throw explain(error, target, deadlineMs);
    }
  });
}

const DEADLINE_EXCEEDED = 4;

function explain(error: unknown, target: Target, deadlineMs: number): unknown {
  if (error instanceof WorkflowFailedError) {
    const message = error.cause?.message ?? error.message;
    return new CliError(`no plan for ${target.kind} ${target.ref.namespace}/${target.ref.name}: ${message}`, {
      cause: error,
    });
  }
  if (grpcCodeOf(error) !== DEADLINE_EXCEEDED) return error;
  return new CliError(`no plan came within ${deadlineMs / 1000} s`, {
    remedy:
      'The plan is made by the worker: see that it runs ("keelson up" starts it) and that the cluster answers, or use --timeout.',
    cause: error,
  });
}

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);

const searchAttributesOf = ({ kind, ref }: Target): TypedSearchAttributes =>
  new TypedSearchAttributes([
    { key: keyword(SEARCH_ATTRIBUTES.kind), value: kind },
    { key: keyword(SEARCH_ATTRIBUTES.namespace), value: ref.namespace },
    { key: keyword(SEARCH_ATTRIBUTES.name), value: ref.name },
  ]);
