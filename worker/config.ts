import { z } from 'zod';
import { TASK_QUEUE } from '../workflows/shared/messages.ts';

const count = z.coerce.number().int().min(1);
const ms = z.coerce.number().int().min(0);

/** Everything about a worker that the environment may say; Temporal's own variables are read by its own loader. */
const environment = z.object({
  KEELSON_TASK_QUEUE: z.string().min(1).default(TASK_QUEUE),
  KEELSON_WORKER_HOST: z.string().min(1).default('127.0.0.1'),
  /** Of the probes and metrics; 0 takes any free one. */
  KEELSON_WORKER_PORT: z.coerce.number().int().min(0).max(65_535).default(9_464),
  KEELSON_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error']).default('info'),
  /** A bundle that was built before, as in a container image; else it is built and kept. */
  KEELSON_WORKFLOW_BUNDLE: z.string().optional(),
  KEELSON_WORKFLOW_SLOTS: count.default(40),
  KEELSON_ACTIVITY_SLOTS: count.default(100),
  KEELSON_WORKFLOW_POLLERS: count.min(2).default(4),
  KEELSON_ACTIVITY_POLLERS: count.default(6),
  KEELSON_CACHED_WORKFLOWS: count.default(500),
  /** How long a task waits for the worker that has the workflow in memory before any may take it. */
  KEELSON_STICKY_MS: ms.default(2_000),
  /** Progress and cancellation travel with heartbeats, so this is also how late a cancellation is noticed. */
  KEELSON_HEARTBEAT_EVERY_MS: ms.default(1_000),
  KEELSON_SHUTDOWN_GRACE_MS: ms.default(10_000),
  KEELSON_SHUTDOWN_FORCE_MS: ms.default(20_000),
  KEELSON_KUBERNETES_TIMEOUT_MS: ms.default(10_000),
  /** The database of the spot agents; without it this worker does nothing for them. */
  KEELSON_MYSQL_URL: z.url({ protocol: /^mysql$/ }).optional(),
  KEELSON_WORKER_VERSIONING: z.enum(['off', 'auto-upgrade', 'pinned']).default('off'),
  TEMPORAL_DEPLOYMENT_NAME: z.string().min(1).default('keelson'),
  TEMPORAL_WORKER_BUILD_ID: z.string().min(1).optional(),
});

export type WorkerConfig = Readonly<z.infer<typeof environment>>;

/** Reads the configuration; what cannot be used is named, with its variable. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): WorkerConfig {
  const parsed = environment.safeParse(env);
  if (!parsed.success) {
    const words = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`the environment has settings that cannot be used: ${words.join('; ')}`);
  }
  if (parsed.data.KEELSON_WORKER_VERSIONING !== 'off' && parsed.data.TEMPORAL_WORKER_BUILD_ID === undefined)
    throw new Error(
      'KEELSON_WORKER_VERSIONING needs TEMPORAL_WORKER_BUILD_ID, the version that this worker runs',
    );
  return parsed.data;
}
