import { createServer, type AddressInfo } from 'node:net';
import { Runtime, Worker, type ActivityInterceptorsFactory, type WorkerOptions } from '@temporalio/worker';
import { noMutationHook, type MutationHook } from '../activities/mutations.ts';
import { createActivities, type WorkerActivities } from './activities.ts';
import { createAttemptGuard, watchFreezes } from './attempt-guard.ts';
import { prepareBundle } from './bundle.ts';
import type { WorkerConfig } from './config.ts';
import { awaitSearchAttributes, connectPatiently } from './connection.ts';
import { serveHealth } from './health.ts';
import { createLogger, temporalLogger } from './logger.ts';
import { createMetrics } from './metrics.ts';
import { logSteps } from './step-log.ts';

/** What a harness may put around the worker; service uses none of it. */
export interface WorkerParts {
  readonly hook?: MutationHook;
  readonly interceptors?: readonly ActivityInterceptorsFactory[];
  readonly workflowsPath?: string;
}

/** Runs until it is told to stop by a signal, or fails; resolves when its work is handed back. */
export async function runWorker(config: WorkerConfig, parts: WorkerParts = {}): Promise<void> {
  const logger = createLogger(config.KEELSON_LOG_LEVEL);
  const forTemporal = temporalLogger(logger);
  const metrics = createMetrics();
  const coreMetrics = `127.0.0.1:${await findFreePort()}`;
  Runtime.install({
    logger: forTemporal,
    shutdownSignals: [],
    telemetryOptions: {
      logging: { forward: {}, filter: { core: 'WARN', other: 'WARN' } },
      metrics: {
        prometheus: {
          bindAddress: coreMetrics,
          countersTotalSuffix: true,
          unitSuffix: true,
          useSecondsForDurations: true,
        },
      },
    },
  });

  let worker: Worker | null = null;
  let systems: WorkerActivities | null = null;
  let starting = 'starting';
  const health = {
    notAlive: () => (worker?.getState() === 'FAILED' ? 'the worker has failed' : null),
    notReady: () =>
      worker === null
        ? starting
        : worker.getState() === 'RUNNING'
          ? null
          : `the worker is ${worker.getState()}`,
  };
  const server = await serveHealth(
    { host: config.KEELSON_WORKER_HOST, port: config.KEELSON_WORKER_PORT },
    health,
    metrics.registry,
    `http://${coreMetrics}/metrics`,
  );
  logger.info({ port: server.port }, 'probes and metrics are served');
  const stopped = stopBySignal(() => worker, logger);
  const freezes = watchFreezes();
  const say = (why: string): void => void (starting = why);

  try {
    const [temporal, codePath] = await Promise.all([
      connectPatiently(logger, stopped, say),
      config.KEELSON_WORKFLOW_BUNDLE ??
        prepareBundle(
          forTemporal,
          parts.workflowsPath === undefined ? {} : { workflowsPath: parts.workflowsPath },
        ),
    ]);
    await awaitSearchAttributes(temporal, logger, stopped, say);
    systems = createActivities({
      requestTimeoutMs: config.KEELSON_KUBERNETES_TIMEOUT_MS,
      hook: parts.hook ?? noMutationHook,
      mysqlUrl: config.KEELSON_MYSQL_URL,
      promotions: metrics.promotions,
    });
    worker = await Worker.create({
      ...temporal,
      ...optionsOf(config),
      sinks: logSteps(metrics.sinks, logger),
      workflowBundle: { codePath },
      activities: systems.activities,
      interceptors: { activity: [createAttemptGuard(freezes), ...(parts.interceptors ?? [])] },
    });
    if (stopped.aborted) worker.shutdown();
    logger.info({ taskQueue: config.KEELSON_TASK_QUEUE, namespace: temporal.namespace }, 'ready for work');
    tellVersion(config, logger);
    await worker.run();
    await temporal.connection.close();
    logger.info('stopped');
  } catch (error) {
    if (!stopped.aborted) throw error;
  } finally {
    freezes.stop();
    await systems?.close();
    await server.close();
  }
}

function optionsOf(config: WorkerConfig): Omit<WorkerOptions, 'connection'> {
  const versioning = config.KEELSON_WORKER_VERSIONING;
  return {
    taskQueue: config.KEELSON_TASK_QUEUE,
    maxConcurrentWorkflowTaskExecutions: config.KEELSON_WORKFLOW_SLOTS,
    maxConcurrentActivityTaskExecutions: config.KEELSON_ACTIVITY_SLOTS,
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: config.KEELSON_WORKFLOW_POLLERS },
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: config.KEELSON_ACTIVITY_POLLERS },
    maxCachedWorkflows: config.KEELSON_CACHED_WORKFLOWS,
    stickyQueueScheduleToStartTimeout: config.KEELSON_STICKY_MS,
    maxHeartbeatThrottleInterval: config.KEELSON_HEARTBEAT_EVERY_MS,
    defaultHeartbeatThrottleInterval: config.KEELSON_HEARTBEAT_EVERY_MS,
    shutdownGraceTime: config.KEELSON_SHUTDOWN_GRACE_MS,
    shutdownForceTime: config.KEELSON_SHUTDOWN_FORCE_MS,
    ...(versioning === 'off' || config.TEMPORAL_WORKER_BUILD_ID === undefined
      ? {}
      : {
          workerDeploymentOptions: {
            version: {
              deploymentName: config.TEMPORAL_DEPLOYMENT_NAME,
              buildId: config.TEMPORAL_WORKER_BUILD_ID,
            },
            useWorkerVersioning: true,
            defaultVersioningBehavior: versioning === 'pinned' ? 'PINNED' : 'AUTO_UPGRADE',
          },
        }),
  };
}

/** A version that nobody made current gets no work, and nothing else would say why. */
function tellVersion(config: WorkerConfig, logger: { info(fields: object, text: string): void }): void {
  const { TEMPORAL_DEPLOYMENT_NAME: deployment, TEMPORAL_WORKER_BUILD_ID: build } = config;
  if (config.KEELSON_WORKER_VERSIONING === 'off' || build === undefined) return;
  const remedy = `temporal worker deployment set-current-version --deployment-name ${deployment} --build-id ${build}`;
  logger.info({ deployment, build, remedy }, 'work comes once this version is the current one');
}

/** The first signal lets running activities end; the second ends the process where it stands. */
function stopBySignal(worker: () => Worker | null, logger: { info(text: string): void }): AbortSignal {
  const stopped = new AbortController();
  const stop = (signal: NodeJS.Signals): void => {
    if (stopped.signal.aborted) process.exit(1);
    logger.info(`${signal}: stopping; once more stops at once`);
    stopped.abort();
    if (worker()?.getState() === 'RUNNING') worker()?.shutdown();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  return stopped.signal;
}

/** Temporal's core wants to be told its port. */
function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
