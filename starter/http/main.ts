import { pino } from 'pino';
import { z } from 'zod';
import { openDatabase } from '../database/connection.ts';
import { openTemporal } from '../temporal-connection.ts';
import { createEntities } from './spot/entities.ts';
import { createSpotServer } from './spot/server.ts';
import { createStore } from './spot/store.ts';

/** What the environment says about the API of the spot agents. */
const environment = z.object({
  KEELSON_MYSQL_URL: z.url({ protocol: /^mysql$/ }),
  KEELSON_SPOT_HOST: z.string().min(1).default('127.0.0.1'),
  KEELSON_SPOT_PORT: z.coerce.number().int().min(0).max(65_535).default(9_466),
  KEELSON_SPOT_REQUESTS_PER_SECOND: z.coerce.number().positive().default(100),
  KEELSON_SPOT_REQUESTS_AT_ONCE: z.coerce.number().int().min(1).default(200),
  KEELSON_LOG_LEVEL: z.string().default('info'),
});

const DEADLINE_MS = 30_000;

const settings = environment.parse(process.env);
const log = pino({ name: 'spot-api', level: settings.KEELSON_LOG_LEVEL });
const pool = openDatabase(settings.KEELSON_MYSQL_URL);
const temporal = openTemporal();
const server = createSpotServer({
  store: createStore(pool),
  entities: createEntities(temporal.client, DEADLINE_MS),
  rate: {
    perSecond: settings.KEELSON_SPOT_REQUESTS_PER_SECOND,
    burst: settings.KEELSON_SPOT_REQUESTS_AT_ONCE,
  },
  defect: (error) => log.error(error, 'a defect'),
});
const address = await server.listen({ host: settings.KEELSON_SPOT_HOST, port: settings.KEELSON_SPOT_PORT });
log.info({ address, temporal: temporal.address }, 'the API of the spot agents is served');
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => {
    void (async () => {
      await server.close();
      await pool.end();
      await temporal.close();
      log.info('stopped');
    })();
  });
