import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../workflows/shared/messages.ts';
import { isWorkflowGone } from './temporal-errors.ts';

/** A workflow whose code fails, so that it neither goes on nor answers. */
export interface ParkedWorkflow {
  readonly workflowId: string;
  readonly attempt: number;
}

/** After this many attempts of one workflow task the workflow counts as parked. */
export const PARKED_AFTER_ATTEMPTS = 3;

/** The entity to which a workflow belongs: `<lifecycle>/<namespace>/<name>`, also for its operations; null for strangers. */
export function entityOf(workflowId: string): { lifecycle: string; namespace: string; name: string } | null {
  const [lifecycle, namespace, name] = workflowId.split('/');
  return lifecycle !== undefined && namespace !== undefined && name !== undefined
    ? { lifecycle, namespace, name }
    : null;
}

/** What a resource says about its parked workflow; always the same words, so that the status is not written each time. */
export function parkedMessage(parked: Pick<ParkedWorkflow, 'workflowId'>): string {
  return (
    `The workflow ${parked.workflowId} is parked: its code fails on every attempt, and nothing goes on until a corrected ` +
    `worker is deployed. See why with "temporal workflow show --workflow-id ${parked.workflowId}" or in the Web UI.`
  );
}

/** Looks at every running workflow of Keelson once. */
export async function readParkedWorkflows(
  client: Client,
  options: {
    readonly concurrency?: number;
    readonly deadlineMs?: number;
    readonly signal?: AbortSignal;
  } = {},
): Promise<readonly ParkedWorkflow[]> {
  const parked: ParkedWorkflow[] = [];
  const running = client.workflow.list({
    query: `ExecutionStatus = "Running" AND ${SEARCH_ATTRIBUTES.kind} IS NOT NULL`,
  });
  const iterator = running[Symbol.asyncIterator]();
  const look = async (): Promise<void> => {
    while (options.signal?.aborted !== true) {
      const next = await iterator.next();
      if (next.done === true) return;
      const found = await readParked(client, next.value.workflowId, options.deadlineMs ?? 10_000);
      if (found !== null) parked.push(found);
    }
  };
  await Promise.all(Array.from({ length: options.concurrency ?? 4 }, look));
  return parked.sort((a, b) => (a.workflowId < b.workflowId ? -1 : 1));
}

/** One workflow, if it is parked. */
export async function readParked(
  client: Client,
  workflowId: string,
  deadlineMs: number,
): Promise<ParkedWorkflow | null> {
  try {
    const description = await client.withDeadline(Date.now() + deadlineMs, () =>
      client.workflow.getHandle(workflowId).describe(),
    );
    const attempt = description.raw.pendingWorkflowTask?.attempt ?? 0;
    return attempt > PARKED_AFTER_ATTEMPTS ? { workflowId, attempt } : null;
  } catch (error) {
    if (isWorkflowGone(error)) return null;
    throw error;
  }
}

/** Calls a round again and again until the signal, and tells what goes wrong with one. */
export async function repeatRounds(
  everyMs: number,
  signal: AbortSignal,
  round: () => Promise<void>,
  failed: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await round();
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}
