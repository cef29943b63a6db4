import {
  ActivityCancellationType,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  makeContinueAsNewFunc,
  ParentClosePolicy,
  patched,
  proxyActivities,
  proxySinks,
  setCurrentDetails,
  setHandler,
  startChild,
  upsertSearchAttributes,
  workflowInfo,
  type ActivityOptions,
  type ChildWorkflowHandle,
  type Workflow,
} from '@temporalio/workflow';
import {
  defineSearchAttributeKey,
  SearchAttributeType,
  TypedSearchAttributes,
  WorkflowExecutionAlreadyStartedError,
  type SearchAttributePair,
  type UpdateDefinition,
} from '@temporalio/common';
import { failure } from './failures.ts';
import * as messages from './messages.ts';
import type { Tuning } from './operation.ts';
import type { Child, ChildStart, EntityPort, Indexed, OperationPort, Port, UpdateHandler } from './port.ts';
import type { KeelsonSinks } from './sinks.ts';

/** The limits of what Temporal shows in full. */
const SUMMARY_BYTES = 200;

const HEARTBEAT_MS = 5_000;
const FOLLOW_VERSION_AFTER_MS = 60_000;
const RETRY_MS = { initial: 200, maximum: 5_000 } as const;
/** One attempt, and all attempts together; then the failure is told, and the world is planned for again. */
const ACT_MS = { attempt: 60_000, all: 300_000 } as const;
const WAIT_MS = { attempt: 24 * 3_600_000, all: 24 * 3_600_000 } as const;

const { keelson } = proxySinks<KeelsonSinks>();

/** The port of an entity workflow. */
export function entityPort<A extends object>(tuning: Tuning = {}): EntityPort<A> {
  const startedAtMs = Date.now();
  return {
    ...basicPort<A>(tuning),
    serve(handlers) {
      setHandler(messages.hint, (hint) => handlers.hint(hint));
      setHandler(messages.status, () => handlers.status());
      setHandler(messages.plan, () => handlers.plan());
      answer(messages.approve, handlers.approve, 'Agree to the steps of the plan that cannot be undone.');
      answer(messages.pause, handlers.pause, 'Hold at the next safe point.');
      answer(messages.resume, handlers.resume, 'Go on after a pause.');
      answer(
        messages.cancelOperation,
        handlers.cancelOperation,
        'End the running operation and undo what can be undone.',
      );
      answer(messages.retry, handlers.retry, 'Try what failed or was cancelled again now.');
    },
    startChild: (start) => startOperation(start, tuning),
    shouldContinueAsNew() {
      const { continueAsNewSuggested, targetWorkerDeploymentVersionChanged, historyLength } = workflowInfo();
      // A version that stays out of reach would be followed run after run without end.
      const settled = Date.now() - startedAtMs > FOLLOW_VERSION_AFTER_MS;
      const long = historyLength > (tuning.longHistory ?? Infinity);
      return continueAsNewSuggested || long || (settled && targetWorkerDeploymentVersionChanged);
    },
    async continueAsNew(input) {
      await condition(allHandlersFinished);
      return makeContinueAsNewFunc<(input: unknown) => Promise<void>>({})(input);
    },
  };
}

/** The port of an operation workflow. */
export function operationPort<A extends object>(tuning: Tuning = {}): OperationPort<A> {
  const root = CancellationScope.current();
  return {
    ...basicPort<A>(tuning),
    serve(handlers) {
      // People may send these too, with anything in them.
      setHandler(messages.stop, (stop?: Partial<messages.Stop>) =>
        handlers.stop({
          why: stop?.why === 'superseded' ? 'superseded' : 'cancelled',
          reason: stop?.reason ?? 'asked for by a signal',
        }),
      );
      setHandler(messages.hold, (hold?: { readonly reason?: string }) =>
        handlers.hold(hold?.reason ?? 'asked for by a signal'),
      );
      setHandler(messages.release, () => handlers.release());
      setHandler(messages.progress, () => handlers.progress());
    },
    cancelled: () => root.consideredCancelled,
    startChild: (start) => startOperation(start, tuning),
    async tellParent(news) {
      const { parent } = workflowInfo();
      if (parent === undefined) return;
      await unlessEnded(
        getExternalWorkflowHandle(parent.workflowId, parent.runId).signal(messages.news, news),
      );
    },
    hear: (handler) => setHandler(messages.news, handler),
  };
}

/** The port of a workflow that only looks, such as a dry run. */
export function basicPort<A extends object>(tuning: Tuning = {}): Port<A> {
  const options = (limits: typeof ACT_MS | typeof WAIT_MS, summary: string): ActivityOptions => ({
    startToCloseTimeout: limits.attempt,
    scheduleToCloseTimeout: limits.all,
    heartbeatTimeout: tuning.heartbeatTimeoutMs ?? HEARTBEAT_MS,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: {
      initialInterval: tuning.retryInitialMs ?? RETRY_MS.initial,
      maximumInterval: tuning.retryMaximumMs ?? RETRY_MS.maximum,
    },
    summary: shortened(summary),
  });
  let indexed = '';
  return {
    workflowId: workflowInfo().workflowId,
    act: (summary) => proxyActivities<A>(options(ACT_MS, summary)) as A,
    wait: (summary) => proxyActivities<A>(options(WAIT_MS, summary)) as A,
    nowMs: () => Date.now(),
    random: () => Math.random(),
    async until(ready, { summary, timeoutMs }) {
      if (timeoutMs !== undefined) return condition(ready, timeoutMs, { summary: shortened(summary) });
      await condition(ready);
      return true;
    },
    knows: patched,
    cancellable,
    shielded: (work) => CancellationScope.nonCancellable(work),
    show: setCurrentDetails,
    index(values) {
      const pairs = searchPairs(values);
      const text = JSON.stringify(pairs.map(({ value }) => value));
      if (text !== indexed) upsertSearchAttributes(pairs);
      indexed = text;
    },
    measures: keelson,
  };
}

function cancellable<T>(work: () => Promise<T>): { readonly end: Promise<T>; cancel(): void } {
  const scope = new CancellationScope();
  return { end: scope.run(work), cancel: () => scope.cancel() };
}

async function startOperation(start: ChildStart, { taskTimeoutMs }: Tuning): Promise<Child> {
  let handle: ChildWorkflowHandle<Workflow>;
  try {
    handle = await startChild(start.workflowType, {
      workflowId: start.workflowId,
      args: [start.input],
      staticSummary: shortened(start.summary),
      typedSearchAttributes: new TypedSearchAttributes(searchPairs(start.indexed).filter(isPresent)),
      parentClosePolicy: ParentClosePolicy.TERMINATE,
      ...(taskTimeoutMs === undefined ? {} : { workflowTaskTimeout: taskTimeoutMs }),
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    throw failure('OperationExists', `${start.workflowId} still runs`);
  }
  return {
    result: () => handle.result(),
    stop: (stop) => unlessEnded(handle.signal(messages.stop, stop)),
    hold: (reason) => unlessEnded(handle.signal(messages.hold, { reason })),
    release: () => unlessEnded(handle.signal(messages.release)),
    tell: (news) => unlessEnded(handle.signal(messages.news, news)),
  };
}

/** A workflow that ended before the message came is no failure: its result tells. */
async function unlessEnded(send: Promise<void>): Promise<void> {
  try {
    await send;
  } catch (error) {
    if (isCancellation(error)) throw error;
  }
}

/** Registers an update whose validator refuses synchronously and in words. */
function answer<Input>(
  update: UpdateDefinition<{ readonly message: string }, [] | [Input]>,
  handler: UpdateHandler<Input>,
  description: string,
): void {
  setHandler(
    update as UpdateDefinition<{ readonly message: string }, [Input]>,
    (input) => ({ message: handler.accept(input) }),
    {
      description,
      validator(input) {
        const refusal = handler.refuse(input);
        if (refusal !== null) throw ApplicationFailure.nonRetryable(refusal, 'Refused');
      },
    },
  );
}

const KEYS = {
  kind: defineSearchAttributeKey(messages.SEARCH_ATTRIBUTES.kind, SearchAttributeType.KEYWORD),
  namespace: defineSearchAttributeKey(messages.SEARCH_ATTRIBUTES.namespace, SearchAttributeType.KEYWORD),
  name: defineSearchAttributeKey(messages.SEARCH_ATTRIBUTES.name, SearchAttributeType.KEYWORD),
  phase: defineSearchAttributeKey(messages.SEARCH_ATTRIBUTES.phase, SearchAttributeType.KEYWORD),
  operation: defineSearchAttributeKey(messages.SEARCH_ATTRIBUTES.operation, SearchAttributeType.KEYWORD),
};

type Pairs = { readonly key: (typeof KEYS)['kind']; readonly value: string | null }[];

function searchPairs({ kind, ref, phase, operation }: Indexed): Pairs {
  return [
    { key: KEYS.kind, value: kind },
    { key: KEYS.namespace, value: ref.namespace },
    { key: KEYS.name, value: ref.name },
    { key: KEYS.phase, value: phase },
    { key: KEYS.operation, value: operation },
  ];
}

const isPresent = (pair: Pairs[number]): pair is SearchAttributePair & Pairs[number] => pair.value !== null;

/** Cuts a text to what Temporal keeps, on a whole character. */
function shortened(text: string): string {
  let short = text;
  while (byteLength(short) > SUMMARY_BYTES) short = `${Array.from(short).slice(0, -8).join('')}…`;
  return short;
}

const byteLength = (text: string): number =>
  encodeURIComponent(text.toWellFormed()).replaceAll(/%../g, '.').length;
