import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { z } from 'zod';
import { backOffMs } from '../back-off.ts';
import { openDatabase } from '../database/connection.ts';
import { startConsumer } from '../events/consumer.ts';
import { openQueue } from '../events/queue.ts';
import { openTemporal } from '../temporal-connection.ts';
import { serveHealth } from './health.ts';
import { createEntities } from './spot/entities.ts';
import { scheduleFleetSweep } from './spot/fleet-sweep.ts';
import { createSpotMetrics } from './spot/metrics.ts';
import { createSpotServer } from './spot/server.ts';
import { createStore } from './spot/store.ts';

/** What the environment says about the API of the spot agents. */
const environment = z.object({
  KEELSON_MYSQL_URL: z.url({ protocol: /^mysql$/ }),
  KEELSON_SPOT_HOST: z.string().min(1).default('127.0.0.1'),
  KEELSON_SPOT_PORT: z.coerce.number().int().min(0).max(65_535).default(9_466),
  /** Where the metrics of all clients are read: never where clients ask. */
  KEELSON_SPOT_METRICS_HOST: z.string().min(1).default('127.0.0.1'),
  KEELSON_SPOT_METRICS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  KEELSON_SPOT_REQUESTS_PER_SECOND: z.coerce.number().positive().default(100),
  KEELSON_SPOT_REQUESTS_AT_ONCE: z.coerce.number().int().min(1).default(200),
  /** For each address, and for tokens that have not been recognised yet. */
  KEELSON_SPOT_STRANGERS_PER_SECOND: z.coerce.number().positive().default(10),
  KEELSON_SPOT_STRANGERS_AT_ONCE: z.coerce.number().int().min(1).default(200),
  /** The queue of EventBridge's events of EC2; without it, notices come from agents only. */
  KEELSON_SPOT_QUEUE_URL: z.url().optional(),
  KEELSON_LOG_LEVEL: z.string().default('info'),
});

const DEADLINE_MS = 30_000;

const settings = environment.parse(process.env);
const log = pino({ name: 'spot-api', level: settings.KEELSON_LOG_LEVEL });
const pool = openDatabase(settings.KEELSON_MYSQL_URL);
const temporal = openTemporal();
const store = createStore(pool);
const entities = createEntities(temporal.client, DEADLINE_MS);
const server = createSpotServer({
  store,
  entities,
  rate: {
    perSecond: settings.KEELSON_SPOT_REQUESTS_PER_SECOND,
    burst: settings.KEELSON_SPOT_REQUESTS_AT_ONCE,
  },
  strangerRate: {
    perSecond: settings.KEELSON_SPOT_STRANGERS_PER_SECOND,
    burst: settings.KEELSON_SPOT_STRANGERS_AT_ONCE,
  },
  unavailable: ({ message, cause }, request) =>
    log.warn({ request, cause: String(cause) }, `answered with 503: ${message}`),
  defect: (error) => log.error(error, 'a defect'),
});
const address = await server.listen({ host: settings.KEELSON_SPOT_HOST, port: settings.KEELSON_SPOT_PORT });
log.info({ address, temporal: temporal.address }, 'the API of the spot agents is served');
const metricsPort = settings.KEELSON_SPOT_METRICS_PORT;
const health =
  metricsPort === undefined
    ? null
    : await serveHealth(
        { live: () => [], ready: () => [], registry: createSpotMetrics(store) },
        { host: settings.KEELSON_SPOT_METRICS_HOST, port: metricsPort },
      );
if (health !== null) log.info({ port: health.port }, 'metrics are served');
// Nobody waits for it: the API serves while Temporal cannot be reached, and refuses in words what needs it.
void awaitSchedule();
const queueUrl = settings.KEELSON_SPOT_QUEUE_URL;
const consumer = queueUrl === undefined ? null : startConsumer(openQueue(queueUrl), { store, entities }, log);
if (queueUrl !== undefined) log.info({ queueUrl }, 'events of EC2 are read');
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => {
    void (async () => {
      await consumer?.stop();
      await server.close();
      await health?.close();
      await pool.end();
      await temporal.close();
      log.info('stopped');
    })();
  });

async function awaitSchedule(): Promise<void> {
  for (let failures = 0; ;) {
    try {
      return await scheduleFleetSweep(temporal.client);
    } catch (error) {
      failures += 1;
      log.warn({ error: String(error) }, 'the sweep of the fleet is not scheduled yet');
      await delay(backOffMs({ firstMs: 1_000, limitMs: 60_000 }, failures, Math.random()), undefined, {
        ref: false,
      });
    }
  }
}
