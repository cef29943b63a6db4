import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Context } from '@temporalio/activity';

import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  type ActivityInterceptorsFactory,
  type InjectedSinks,
} from '@temporalio/worker';
import { createAttemptGuard, watchFreezes } from '../../../worker/attempt-guard.ts';
import { prepareBundle } from '../../../worker/bundle.ts';
import type { KeelsonSinks } from '../../../workflows/shared/sinks.ts';
import { TASK_QUEUE } from '../../../workflows/shared/messages.ts';
import { createLampRowActivities, type Attempt } from '../../simulation/lamp-row/activities.ts';
import type { LampRowActivities } from '../../simulation/lamp-row/contract.ts';
import type { LampWorld } from '../../simulation/lamp-row/world.ts';

const WORKFLOWS = fileURLToPath(new URL('../../simulation/lamp-row/workflows.ts', import.meta.url));

/** A worker that plays the example. */
export interface LampWorker {
  /** What it has counted, each as `name outcome`. */
  readonly measured: readonly string[];
  stop(): Promise<void>;
}

/** What a harness puts around the example's worker. */
export interface LampWorkerParts {
  readonly activities?: (safe: LampRowActivities) => LampRowActivities;
  readonly interceptors?: readonly ActivityInterceptorsFactory[];
}

/** Starts a worker for the example in this process. */
export async function startLampWorker(
  server: { readonly address: string; readonly namespace: string },
  world: LampWorld,
  workflowsPath = WORKFLOWS,
  { activities = (safe) => safe, interceptors = [] }: LampWorkerParts = {},
): Promise<LampWorker> {
  const logger = new DefaultLogger('ERROR');
  Runtime.install({ logger, shutdownSignals: [] });
  const connection = await NativeConnection.connect({ address: server.address });
  const freezes = watchFreezes();
  const measured: string[] = [];
  const worker = await Worker.create({
    connection,
    namespace: server.namespace,
    taskQueue: TASK_QUEUE,
    workflowBundle: { codePath: await prepareBundle(logger, { workflowsPath }) },
    activities: activities(createLampRowActivities(world, temporalAttempt)),
    interceptors: { activity: [createAttemptGuard(freezes), ...interceptors] },
    stickyQueueScheduleToStartTimeout: 200,
    maxHeartbeatThrottleInterval: 100,
    defaultHeartbeatThrottleInterval: 100,
    sinks: countingSinks(measured),
  });
  const running = worker.run();
  return {
    measured,
    async stop() {
      worker.shutdown();
      await running;
      freezes.stop();
      await connection.close();
    },
  };
}

function countingSinks(measured: string[]): InjectedSinks<KeelsonSinks> {
  return {
    keelson: {
      operationEnded: {
        fn: (_info, labels) => void measured.push(`${labels.operation} ${labels.outcome}`),
      },
      stepEnded: { fn: (_info, labels) => void measured.push(`${labels.kind} ${labels.outcome}`) },
      guardBlocked: { fn: (_info, labels) => void measured.push(`${labels.guard} blocked`) },
      waited: { fn: (_info, labels) => void measured.push(`${labels.on} waited`) },
    },
  };
}

function temporalAttempt(): Attempt {
  const context = Context.current();
  return {
    number: context.info.attempt,
    workflowId: context.info.workflowExecution?.workflowId ?? '',
    nowMs: () => Date.now(),
    sleep: (ms) => context.sleep(ms),
    rest: (ms) => delay(ms),
  };
}
