import { WithStartWorkflowOperation, WorkflowUpdateFailedError, type Client } from '@temporalio/client';
import { TASK_QUEUE, type ResourceRef } from '../../../workflows/shared/messages.ts';
import type { Tuning } from '../../../workflows/shared/operation.ts';
import type { Command, PlanEnvelope } from '../../../workflows/shared/plan.ts';
import {
  KIND,
  noticeUpdate,
  spotAgentId,
  WORKFLOW,
  type IncomingNotice,
  type NoticeAnswer,
} from '../../../workflows/spot-agent/contract.ts';
import { isWorkflowGone } from '../../temporal-errors.ts';
import type { AgentRow } from './agents.ts';
import { Refusal } from './refusal.ts';

/** The workflows of the agents, as the API speaks to them. */
export interface Entities {
  /** Tells of a notice, and starts the workflow if need be; answered once the notice is durable and acted on. */
  notice(agent: AgentRow, notice: IncomingNotice): Promise<NoticeAnswer>;
  /** Wakes the workflow of an agent, and starts it if need be. */
  hint(agent: Pick<AgentRow, 'clientId' | 'id' | 'uid' | 'generation'>): Promise<void>;
  /** What the workflow would do next, or null while there is none. */
  plan(agent: AgentRow): Promise<PlanEnvelope<Command> | null>;
}

/** Speaks to Temporal within a time, and says in words when it does not answer. */
export function createEntities(client: Client, deadlineMs: number, tuning?: Tuning): Entities {
  const refOf = ({ clientId, id }: Pick<AgentRow, 'clientId' | 'id'>): ResourceRef => ({
    namespace: clientId,
    name: id,
  });
  const input = (ref: ResourceRef) => ({ ref, ...(tuning === undefined ? {} : { tuning }) });
  const within = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await client.connection.withDeadline(Date.now() + deadlineMs, work);
    } catch (error) {
      if (isWorkflowGone(error)) throw error;
      const words =
        error instanceof WorkflowUpdateFailedError
          ? 'the workflow of the agent could not take it: try again'
          : 'Temporal does not answer: try again';
      throw new Refusal(503, 'UNAVAILABLE', words, { cause: error });
    }
  };
  return {
    notice: (agent, notice) =>
      within(() => {
        const ref = refOf(agent);
        const start = new WithStartWorkflowOperation(WORKFLOW, {
          workflowId: spotAgentId(ref),
          taskQueue: TASK_QUEUE,
          args: [input(ref)],
          workflowIdConflictPolicy: 'USE_EXISTING',
        });
        return client.workflow.executeUpdateWithStart(noticeUpdate, {
          args: [notice],
          startWorkflowOperation: start,
        });
      }),
    hint: async (agent) => {
      const ref = refOf(agent);
      await within(() =>
        client.workflow.signalWithStart(WORKFLOW, {
          workflowId: spotAgentId(ref),
          taskQueue: TASK_QUEUE,
          args: [input(ref)],
          signal: 'hint',
          signalArgs: [{ kind: KIND, uid: agent.uid, generation: agent.generation }],
        }),
      );
    },
    plan: async (agent) => {
      try {
        return await within(() =>
          client.workflow.getHandle(spotAgentId(refOf(agent))).query<PlanEnvelope<Command> | null>('plan'),
        );
      } catch (error) {
        if (isWorkflowGone(error)) return null;
        throw error;
      }
    },
  };
}
