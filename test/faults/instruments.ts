import { asyncLocalStorage } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Mutation, MutationHook } from '../../activities/mutations.ts';
import { hitAt, type Hit, type Moment, type Place } from './points.ts';
import { RunLog } from './run-log.ts';

/** A wait that is over sooner is no place to die in. */
const WAITING_MS = 150;
/** What may take so long is a wait, and not an act. */
const WAITS_FROM_MS = 3_600_000;

/** What is put around a worker so that it notes each place it comes to, and dies at the armed ones. */
export interface Instruments {
  readonly hook: MutationHook;
  readonly interceptor: ActivityInterceptorsFactory;
}

/** The instruments of one run, whose directory outlives the worker. */
export function createInstruments(directory: string | undefined): Instruments {
  if (directory === undefined) throw new Error('KEELSON_FAULT_RUN names the directory of the run');
  const pass = createPass(new RunLog(directory));
  /** How many requests an activity has begun, and which of them each one is: several may be under way at once. */
  const begun = new WeakMap<object, number>();
  const indexes = new WeakMap<Mutation, number>();
  const passRequest = (moment: Moment, mutation: Mutation): void => {
    const context = asyncLocalStorage.getStore();
    if (context === undefined) return;
    let index = indexes.get(mutation);
    if (index === undefined) {
      index = begun.get(context) ?? 0;
      begun.set(context, index + 1);
      indexes.set(mutation, index);
    }
    pass(hitAt(placeOf(context.info), moment, { index, mutation }));
  };
  return {
    hook: {
      before: (mutation) => passRequest('before request', mutation),
      after: (mutation) => passRequest('after request', mutation),
    },
    interceptor: ({ info }) => ({
      inbound: {
        async execute(input, next) {
          const place = placeOf(info);
          const waits = (info.startToCloseTimeoutMs ?? 0) >= WAITS_FROM_MS;
          const dying = (): void => pass(hitAt(place, 'while waiting'));
          const waiting = waits ? setTimeout(dying, WAITING_MS) : undefined;
          try {
            const result = await next(input);
            pass(hitAt(place, 'before result'));
            return result;
          } finally {
            clearTimeout(waiting);
          }
        },
      },
    }),
  };
}

/** Notes that a place was reached, and dies if it is an armed one. */
function createPass(log: RunLog): (hit: Hit) => void {
  const seen = new Map<string, Set<string>>();
  /** Which of the distinct places of its class this is. */
  const count = (hit: Hit): number => {
    const keys = seen.get(hit.class) ?? new Set<string>();
    seen.set(hit.class, keys.add(hit.key));
    return [...keys].indexOf(hit.key) + 1;
  };
  log.hits.forEach(count);
  return (hit) => {
    if (!log.begun) return;
    log.append(hit);
    const occurrence = count(hit);
    const armed = log.armed.find((point) => point.class === hit.class && point.occurrence === occurrence);
    if (armed === undefined) return;
    log.disarm(armed);
    process.kill(process.pid, 'SIGKILL');
  };
}

function placeOf(info: {
  readonly workflowExecution?: { readonly workflowId: string };
  readonly activityType: string;
  readonly activityId: string;
}): Place {
  const { activityType, activityId } = info;
  return { workflowId: info.workflowExecution?.workflowId ?? '', activityType, activityId };
}
