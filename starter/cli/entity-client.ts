import {
  QueryNotRegisteredError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import type { EntityStatus, OperationProgress } from '../../workflows/shared/messages.ts';
import { PARKED_AFTER_ATTEMPTS } from '../parked-workflows.ts';
import { grpcCodeOf } from '../temporal-errors.ts';
import { CliError } from './cli-error.ts';
import { readEntities } from './entity-list.ts';
import type { RenderablePlan } from './render/plan-text.ts';
import { selectSimilar } from './similar-names.ts';
import type { Target } from './target.ts';
import type { TemporalSession } from './temporal-session.ts';

/** There is no workflow of that id, at least not yet. */
export class EntityAbsent extends CliError {}

interface Answer {
  readonly message: string;
}

/** One entity as the command line talks to it: every call has a deadline, every silence is explained. */
export class EntityClient {
  readonly target: Target;
  readonly #session: TemporalSession;

  constructor(session: TemporalSession, target: Target) {
    this.#session = session;
    this.target = target;
  }

  async describe(): Promise<WorkflowExecutionDescription> {
    return this.#call(() => this.#handle.describe());
  }

  async status(): Promise<EntityStatus> {
    return this.#call(() => this.#handle.query<EntityStatus>('status'));
  }

  async plan(): Promise<RenderablePlan | null> {
    return this.#call(() => this.#handle.query<RenderablePlan | null>('plan'));
  }

  /** The steps of the operation that runs, or null when it has ended meanwhile or does not answer. */
  async progress(status: EntityStatus): Promise<OperationProgress | null> {
    if (status.operation === null) return null;
    const handle = this.#session.client.workflow.getHandle(status.operation.workflowId);
    try {
      return await this.#within(() => handle.query<OperationProgress>('progress'));
    } catch (error) {
      // The entity has answered, so its view stands; that of the operation is the less important one.
      if (error instanceof WorkflowNotFoundError || grpcCodeOf(error) !== null) return null;
      throw error;
    }
  }

  /** Sends an update, with its one argument if it has one. */
  async update(name: string, input?: unknown): Promise<Answer> {
    return this.#call(() =>
      input === undefined
        ? this.#handle.executeUpdate<Answer, []>(name)
        : this.#handle.executeUpdate<Answer, [unknown]>(name, { args: [input] }),
    );
  }

  get #handle() {
    return this.#session.client.workflow.getHandle(this.target.workflowId);
  }

  #within<T>(call: () => Promise<T>): Promise<T> {
    return this.#session.client.withDeadline(Date.now() + this.#session.deadlineMs, call);
  }

  async #call<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await this.#within(call);
    } catch (error) {
      throw await this.#explain(error);
    }
  }

  async #explain(error: unknown): Promise<unknown> {
    if (error instanceof WorkflowNotFoundError) return this.#explainAbsence();
    if (error instanceof WorkflowUpdateFailedError)
      return new CliError(error.cause?.message ?? error.message, { cause: error });
    if (error instanceof QueryNotRegisteredError)
      return new CliError(`${this.target.workflowId} does not answer such questions`, {
        remedy: 'Is the worker of the same version as this command?',
        cause: error,
      });
    const silent = error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isSilence(error);
    return silent ? this.#explainSilence(error) : error;
  }

  async #explainAbsence(): Promise<EntityAbsent> {
    const { kind, ref, workflowId } = this.target;
    const there = await readEntities(this.#session, { all: false });
    const similar = selectSimilar(
      workflowId,
      there.map((one) => one.workflowId),
    );
    const hint =
      similar.length > 0
        ? `Did you mean ${similar.join(' or ')}?`
        : `Its workflow starts when the ${kind} is applied and the starter runs, or by "keelson start ${workflowId}". "keelson list" shows what there is.`;
    return new EntityAbsent(`there is no workflow for ${kind} ${ref.namespace}/${ref.name}`, {
      remedy: hint,
    });
  }

  /** Nothing was answered in time: because the workflow is parked, or because no worker runs. */
  async #explainSilence(error: unknown): Promise<unknown> {
    const { workflowId } = this.target;
    const seconds = this.#session.deadlineMs / 1000;
    const description = await this.#within(() => this.#handle.describe());
    if ((description.raw.pendingWorkflowTask?.attempt ?? 0) > PARKED_AFTER_ATTEMPTS)
      return new CliError(`${workflowId} is parked: its code fails on every attempt, so it cannot answer`, {
        remedy: `See why with "temporal workflow show --workflow-id ${workflowId}", and deploy a corrected worker: it then goes on by itself.`,
        cause: error,
      });
    if (!(await this.#isPolled(description.taskQueue)))
      return new CliError(
        `no worker serves the task queue "${description.taskQueue}", so nobody can answer`,
        {
          remedy: 'Start the worker ("keelson up" does) and try again: nothing is lost meanwhile.',
          cause: error,
        },
      );
    return new CliError(`${workflowId} did not answer within ${seconds} s`, {
      remedy: 'The worker may be busy: try again, or give it longer with --timeout.',
      cause: error,
    });
  }

  async #isPolled(taskQueue: string): Promise<boolean> {
    const { client } = this.#session;
    const answer = await this.#within(() =>
      client.workflowService.describeTaskQueue({
        namespace: client.options.namespace,
        taskQueue: { name: taskQueue },
      }),
    );
    const recentMs = Date.now() - 70_000;
    return answer.pollers.some((poller) => Number(poller.lastAccessTime?.seconds ?? 0) * 1000 > recentMs);
  }
}

const CANCELLED = 1;
const DEADLINE_EXCEEDED = 4;
const FAILED_PRECONDITION = 9;

/** A query of a parked workflow hangs or is refused, one without a worker hangs. */
function isSilence(error: unknown): boolean {
  const code = grpcCodeOf(error);
  return code === DEADLINE_EXCEEDED || code === CANCELLED || code === FAILED_PRECONDITION;
}
