import { setTimeout as delay } from 'node:timers/promises';
import {
  Client,
  Connection,
  WorkflowFailedError,
  WorkflowUpdateFailedError,
  type WorkflowExecutionInfo,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { defineUpdate } from '@temporalio/workflow';
import { resultOf } from '../../../workflows/shared/failures.ts';
import * as messages from '../../../workflows/shared/messages.ts';
import type { Tuning } from '../../../workflows/shared/operation.ts';
import type { Command, PlanEnvelope } from '../../../workflows/shared/plan.ts';
import { LIFECYCLE } from '../../simulation/lamp-row/contract.ts';
import { LampWorld, type WorldStore } from '../../simulation/lamp-row/world.ts';
import type { OperationEnd, Theatre } from '../../simulation/theatre.ts';

const PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 25;

/** Short times, so that what happens by time-outs happens soon. */
export const TUNING: Tuning = {
  heartbeatTimeoutMs: 1_000,
  retryInitialMs: 50,
  retryMaximumMs: 500,
  taskTimeoutMs: 2_000,
};

const STATUSES: Readonly<Record<string, OperationEnd['status']>> = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  TERMINATED: 'terminated',
};

/** A theatre with the server's client at hand. */
export interface TemporalTheatre extends Theatre {
  readonly client: Client;
}

/** The example on a Temporal server; its worker runs wherever the test lets it. */
export async function temporalTheatre(
  server: { readonly address: string; readonly namespace: string },
  store: WorldStore,
  stopWorker: () => Promise<void>,
): Promise<TemporalTheatre> {
  const connection = await Connection.connect({ address: server.address });
  const client = new Client({ connection, namespace: server.namespace });
  const world = new LampWorld(store);
  const id = (ref: messages.ResourceRef): string => messages.entityId(LIFECYCLE, ref);
  const entity = (ref: messages.ResourceRef) => client.workflow.getHandle(id(ref));
  return {
    client,
    world,
    async hint(ref, hint = world.hint(ref)) {
      await client.workflow.signalWithStart('lampRow', {
        workflowId: id(ref),
        taskQueue: messages.TASK_QUEUE,
        args: [{ ref, tuning: TUNING }],
        workflowTaskTimeout: '2s',
        signal: messages.hint,
        // A watch that lost its object has nothing to tell but that something changed.
        signalArgs: [hint as messages.Hint],
      });
    },
    async execute(workflowType, workflowId, input) {
      const options = { workflowId, taskQueue: messages.TASK_QUEUE, args: [input] };
      try {
        // Nothing comes back as null from a server.
        return (await client.workflow.execute(workflowType, options)) ?? undefined;
      } catch (error) {
        throw error instanceof WorkflowFailedError && error.cause !== undefined ? error.cause : error;
      }
    },
    async signal(workflowId, name, input) {
      await client.workflow.getHandle(workflowId).signal(name, input);
    },
    async update(ref, name, input) {
      try {
        const update = defineUpdate<{ readonly message: string }, [unknown]>(name);
        return (await entity(ref).executeUpdate(update, { args: [input] })).message;
      } catch (error) {
        if (!(error instanceof WorkflowUpdateFailedError)) throw error;
        throw error.cause instanceof ApplicationFailure ? error.cause : error;
      }
    },
    status: (ref) => entity(ref).query(messages.status),
    plan: (ref) => entity(ref).query<PlanEnvelope<Command> | null>('plan'),
    progress: (workflowId) => client.workflow.getHandle(workflowId).query(messages.progress),
    async isOpen(workflowId) {
      return (await client.workflow.getHandle(workflowId).describe()).status.name === 'RUNNING';
    },
    ended: (ref) => listEnded(client, ref),
    async cancel(workflowId) {
      await client.workflow.getHandle(workflowId).cancel();
    },
    async terminate(workflowId) {
      await client.workflow.getHandle(workflowId).terminate('by a test');
    },
    async until(what, holds) {
      const deadlineMs = Date.now() + PATIENCE_MS;
      while (!(await holds())) {
        if (Date.now() > deadlineMs) throw new Error(`it never came to pass that ${what}`);
        await delay(LOOK_EVERY_MS);
      }
    },
    async close() {
      await stopWorker();
      await connection.close();
    },
  };
}

/** The ended operations of a row, found as people find them: by their search attributes. */
async function listEnded(client: Client, ref: messages.ResourceRef): Promise<readonly OperationEnd[]> {
  const { name, operation } = messages.SEARCH_ATTRIBUTES;
  const query = `${name} = "${ref.name}" AND ${operation} IS NOT NULL AND WorkflowType != "lampRow"`;
  const found: WorkflowExecutionInfo[] = [];
  for await (const execution of client.workflow.list({ query })) found.push(execution);
  found.sort((a, b) => a.startTime.getTime() - b.startTime.getTime());
  const ends: OperationEnd[] = [];
  for (const { workflowId, status } of found) {
    const known = STATUSES[status.name];
    if (known === undefined) continue;
    const operationName = workflowId.split('/').at(-2) ?? '';
    ends.push({
      workflowId,
      operation: operationName,
      status: known,
      result: await readResult(client, workflowId),
    });
  }
  return ends;
}

async function readResult(client: Client, workflowId: string): Promise<messages.OperationResult | null> {
  try {
    return (await client.workflow.getHandle(workflowId).result()) as messages.OperationResult;
  } catch (error) {
    return error instanceof WorkflowFailedError ? resultOf(error.cause) : null;
  }
}
