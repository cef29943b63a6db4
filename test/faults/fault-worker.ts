import { asyncLocalStorage } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Mutation, MutationHook } from '../../activities/mutations.ts';
import { readConfig } from '../../worker/config.ts';
import { runWorker } from '../../worker/run.ts';
import { hitAt, type Hit, type Moment, type Place } from './points.ts';
import { RunLog } from './run-log.ts';

/** A wait that is over sooner is no place to die in. */
const WAITING_MS = 150;

const directory = process.env['KEELSON_FAULT_RUN'];
if (directory === undefined) throw new Error('KEELSON_FAULT_RUN names the directory of the run');
const log = new RunLog(directory);
const seen = new Map<string, Set<string>>();
log.hits.forEach(count);

/** Notes that a place was reached, and dies if it is the armed one. */
function pass(hit: Hit): void {
  if (!log.begun) return;
  log.append(hit);
  const occurrence = count(hit);
  const armed = log.armed;
  if (armed === null || armed.class !== hit.class || armed.occurrence !== occurrence) return;
  log.disarm(armed);
  process.kill(process.pid, 'SIGKILL');
}

/** Which of the distinct places of its class this is. */
function count(hit: Hit): number {
  const keys = seen.get(hit.class) ?? new Set<string>();
  seen.set(hit.class, keys.add(hit.key));
  return [...keys].indexOf(hit.key) + 1;
}

/** How many requests an activity has begun, and which of them each one is: several may be under way at once. */
const begun = new WeakMap<object, number>();
const indexes = new WeakMap<Mutation, number>();

function passRequest(moment: Moment, mutation: Mutation): void {
  const context = asyncLocalStorage.getStore();
  if (context === undefined) return;
  let index = indexes.get(mutation);
  if (index === undefined) {
    index = begun.get(context) ?? 0;
    begun.set(context, index + 1);
    indexes.set(mutation, index);
  }
  pass(hitAt(placeOf(context.info), moment, { index, mutation }));
}

const hook: MutationHook = {
  before: (mutation) => passRequest('before request', mutation),
  after: (mutation) => passRequest('after request', mutation),
};

const aroundActivities: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    async execute(input, next) {
      const place = placeOf(info);
      const waiting = setTimeout(() => pass(hitAt(place, 'while waiting')), WAITING_MS);
      try {
        const result = await next(input);
        pass(hitAt(place, 'before result'));
        return result;
      } finally {
        clearTimeout(waiting);
      }
    },
  },
});

function placeOf(info: {
  readonly workflowExecution?: { readonly workflowId: string };
  readonly activityType: string;
  readonly activityId: string;
}): Place {
  const { activityType, activityId } = info;
  return { workflowId: info.workflowExecution?.workflowId ?? '', activityType, activityId };
}

await runWorker(readConfig(), { hook, interceptors: [aroundActivities] });
