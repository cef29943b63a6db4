import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { noMutationHook, type MutationHook } from '../../../activities/mutations.ts';
import { createSpotActivities } from '../../../worker/activities.ts';
import { createAttemptGuard, watchFreezes } from '../../../worker/attempt-guard.ts';
import { prepareBundle } from '../../../worker/bundle.ts';
import { createMetrics } from '../../../worker/metrics.ts';
import { TASK_QUEUE } from '../../../workflows/shared/messages.ts';

/** Where a worker finds what it works with. */
export interface SpotPlaces {
  readonly temporal: { readonly address: string; readonly namespace: string };
  readonly mysqlUrl: string;
  readonly ec2Url: string;
  /** What happens around every request that changes something. */
  readonly hook?: MutationHook;
}

/** Starts a worker with the systems of the spot agents in this process; gives how to stop it. */
export async function startSpotWorker({
  temporal,
  mysqlUrl,
  ec2Url,
  hook = noMutationHook,
}: SpotPlaces): Promise<() => Promise<void>> {
  const logger = new DefaultLogger('ERROR');
  Runtime.install({ logger, shutdownSignals: [] });
  const connection = await NativeConnection.connect({ address: temporal.address });
  const metrics = createMetrics();
  const systems = createSpotActivities(mysqlUrl, hook, { ec2Url, promotions: metrics.promotions });
  const freezes = watchFreezes();
  const worker = await Worker.create({
    connection,
    namespace: temporal.namespace,
    taskQueue: TASK_QUEUE,
    workflowBundle: { codePath: await prepareBundle(logger, {}) },
    activities: systems.activities,
    interceptors: { activity: [createAttemptGuard(freezes)] },
    maxHeartbeatThrottleInterval: 200,
    defaultHeartbeatThrottleInterval: 200,
    sinks: metrics.sinks,
  });
  const running = worker.run();
  return async () => {
    worker.shutdown();
    await running;
    freezes.stop();
    await connection.close();
    await systems.close();
  };
}
