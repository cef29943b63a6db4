import { CancelledFailure } from '@temporalio/common';
import type {
  Child,
  ChildStart,
  EntityHandlers,
  EntityPort,
  Measures,
  OperationHandlers,
  OperationPort,
} from '../../../workflows/shared/port.ts';
import { crossing } from './crossing.ts';
import type { Execution } from './execution.ts';
import { currentScope, runInScope, Scope } from './scope.ts';

/** Thrown through the workflow's code to end its run and begin the next. */
export class ContinueAsNew extends Error {
  readonly input: unknown;
  constructor(input: unknown) {
    super('continue as new');
    this.input = input;
  }
}

/** How the engine reaches the code: by the names of the messages. */
export interface Handlers {
  signal?: (name: string, input: unknown) => void;
  query?: (name: string) => unknown;
  refuse?: (name: string, input: unknown) => string | null;
  accept?: (name: string, input: unknown) => string;
}

/** The port of the simulator: of entities and operations alike. */
export type SimulatedPort = EntityPort<object> &
  OperationPort<object> & { serve(handlers: EntityHandlers | OperationHandlers): void };

type Work = (...args: readonly unknown[]) => Promise<unknown>;

/** The port through which one execution of a workflow reaches the simulated world. */
export function simulatedPort(execution: Execution): SimulatedPort {
  return {
    workflowId: execution.workflowId,
    act: (summary) => activities(execution, summary, false),
    wait: (summary) => activities(execution, summary, true),
    nowMs: () => execution.nowMs,
    random: () => execution.random.next(),
    until: (ready, { summary, timeoutMs }) => execution.until(ready, timeoutMs, summary),
    knows: (change) => execution.knows(change),
    cancellable,
    shielded: (work) => runInScope(new Scope(currentScope(), true), work),
    cancelled: () => execution.cancelRequested,
    show: (details) => void (execution.details = details),
    index: (indexed) => execution.emit({ type: 'index', indexed }),
    measures: uncounted,
    serve: (handlers) => void (execution.handlers = byName(handlers)),
    startChild: (start) => startChild(execution, start),
    async tellParent(news) {
      const seq = execution.nextSeq();
      const input = crossing(news, 'the news for the parent');
      execution.emit({ type: 'signal-parent', seq, name: 'news', input });
      await execution.answerTo(seq, () => {});
    },
    hear: (handler) => execution.hear(handler),
    shouldContinueAsNew: () => execution.continueAsNewSuggested,
    async continueAsNew(input) {
      throw new ContinueAsNew(crossing(input, `the next input of ${execution.workflowId}`));
    },
  };
}

function activities(execution: Execution, summary: string, long: boolean): object {
  const call =
    (name: string): Work =>
    (...args) => {
      if (currentScope().cancelled) return Promise.reject(new CancelledFailure('cancelled'));
      const seq = execution.nextSeq();
      const sent = args.map((arg, at) => crossing(arg, `argument ${at + 1} of ${name}`));
      execution.emit({ type: 'activity', seq, name, args: sent, summary, long });
      return execution.answerTo(seq, () => execution.emit({ type: 'cancel-activity', seq }));
    };
  return new Proxy({}, { get: (_target, name) => call(String(name)) });
}

function cancellable<T>(work: () => Promise<T>): { readonly end: Promise<T>; cancel(): void } {
  const scope = new Scope(currentScope());
  return { end: runInScope(scope, work), cancel: () => scope.cancel() };
}

async function startChild(execution: Execution, start: ChildStart): Promise<Child> {
  if (currentScope().cancelled) throw new CancelledFailure('cancelled');
  const seq = execution.nextSeq();
  const endSeq = execution.nextSeq();
  const input = crossing(start.input, `the input of ${start.workflowId}`) as ChildStart['input'];
  execution.emit({ type: 'child', seq, endSeq, start: { ...start, input } });
  const cancel = (): void => execution.emit({ type: 'cancel-child', seq });
  const result = execution.answerTo(endSeq, cancel);
  // Whoever waits for the result learns of its failure; a child that nobody waits for fails unheard.
  result.catch(() => {});
  await execution.answerTo(seq, () => {});
  const tell = async (name: string, message: unknown): Promise<void> => {
    const signalSeq = execution.nextSeq();
    const sent = crossing(message, `the signal ${name}`);
    execution.emit({ type: 'signal-child', seq: signalSeq, childSeq: seq, name, input: sent });
    await execution.answerTo(signalSeq, () => {});
  };
  return {
    result: () => result,
    stop: (stop) => tell('stop', stop),
    hold: (reason) => tell('hold', { reason }),
    release: () => tell('release', null),
    tell: (news) => tell('news', news),
  };
}

function byName(handlers: EntityHandlers | OperationHandlers): Handlers {
  if ('progress' in handlers) {
    return {
      signal(name, input) {
        if (name === 'stop') handlers.stop(input as Parameters<OperationHandlers['stop']>[0]);
        if (name === 'hold') handlers.hold((input as { readonly reason: string }).reason);
        if (name === 'release') handlers.release();
      },
      query: () => handlers.progress(),
    };
  }
  const update = (name: string): EntityHandlers['approve'] =>
    handlers[name as 'approve'] ?? { refuse: () => `there is no update ${name}`, accept: () => '' };
  return {
    signal(name, input) {
      if (name === 'hint') handlers.hint(input as Parameters<EntityHandlers['hint']>[0]);
    },
    query: (name) => (name === 'plan' ? handlers.plan() : handlers.status()),
    refuse: (name, input) => update(name).refuse(input as Parameters<EntityHandlers['approve']['refuse']>[0]),
    accept: (name, input) => update(name).accept(input as Parameters<EntityHandlers['approve']['accept']>[0]),
  };
}

const uncounted: Measures = {
  operationEnded: () => {},
  stepEnded: () => {},
  guardBlocked: () => {},
  waited: () => {},
};
