import type { Client } from '@temporalio/client';
import { SearchAttributeType, TypedSearchAttributes, defineSearchAttributeKey } from '@temporalio/common';
import { SEARCH_ATTRIBUTES, TASK_QUEUE, hint as hintSignal } from '../workflows/shared/messages.ts';
import type { Hint, ResourceRef } from '../workflows/shared/messages.ts';
import type { Tuning } from '../workflows/shared/operation.ts';
import { isWorkflowGone } from './temporal-errors.ts';

/** The entity that a hint is for. */
export interface HintTarget {
  readonly workflowId: string;
  readonly workflowType: string;
  readonly kind: string;
  readonly ref: ResourceRef;
}

export interface HintDeliveryOptions {
  readonly taskQueue?: string;
  readonly deadlineMs?: number;
  readonly tuning?: Tuning | undefined;
}

/** Hints an entity and starts it when it does not run, and answers which run heard it; several hints of one change are harmless. */
export async function deliverHint(
  client: Client,
  target: HintTarget,
  hint: Hint,
  options: HintDeliveryOptions = {},
): Promise<string> {
  const { signaledRunId } = await client.withDeadline(Date.now() + (options.deadlineMs ?? 10_000), () =>
    client.workflow.signalWithStart(target.workflowType, {
      workflowId: target.workflowId,
      workflowIdConflictPolicy: 'USE_EXISTING',
      taskQueue: options.taskQueue ?? TASK_QUEUE,
      args: [{ ref: target.ref, ...(options.tuning === undefined ? {} : { tuning: options.tuning }) }],
      signal: hintSignal,
      signalArgs: [hint],
      typedSearchAttributes: searchAttributesOf(target),
      staticSummary: `${target.kind} ${target.ref.namespace}/${target.ref.name}`.slice(0, 200),
    }),
  );
  return signaledRunId;
}

/** Tells a running entity that an object is gone; one that does not run is never started for that. */
export async function deliverFarewell(
  client: Client,
  target: HintTarget,
  hint: Hint,
  options: HintDeliveryOptions = {},
): Promise<void> {
  try {
    await client.withDeadline(Date.now() + (options.deadlineMs ?? 10_000), () =>
      client.workflow.getHandle(target.workflowId).signal(hintSignal, hint),
    );
  } catch (error) {
    if (!isWorkflowGone(error)) throw error;
  }
}

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);

const searchAttributesOf = ({ kind, ref }: HintTarget): TypedSearchAttributes =>
  new TypedSearchAttributes([
    { key: keyword(SEARCH_ATTRIBUTES.kind), value: kind },
    { key: keyword(SEARCH_ATTRIBUTES.namespace), value: ref.namespace },
    { key: keyword(SEARCH_ATTRIBUTES.name), value: ref.name },
  ]);
