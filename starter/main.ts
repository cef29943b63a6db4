import { KubeConfig } from '@kubernetes/client-node';
import { pino } from 'pino';
import { readConfiguration } from './configuration.ts';
import { serveHealth } from './http/health.ts';
import { loadWatches } from './load-watches.ts';
import { Starter } from './starter.ts';
import { openTemporal } from './temporal-connection.ts';

const configuration = readConfiguration(process.env);
const log = pino({ name: 'starter', level: configuration.logLevel });
const kubeConfig = new KubeConfig();
kubeConfig.loadFromDefault();
const temporal = openTemporal();
const starter = new Starter({
  kubeConfig,
  client: temporal.client,
  watches: await loadWatches(),
  log,
  lease: configuration.lease,
});
const health = await serveHealth(
  { live: () => starter.notLive(), ready: () => starter.notReady(), registry: starter.metrics.registry },
  configuration,
);
const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => {
    log.info({ signal: name }, 'stopping');
    stopping.abort();
  });
process.on('unhandledRejection', (error) => log.error({ err: error }, 'a rejection that nobody handled'));
log.info(
  { temporal: temporal.address, kubernetes: kubeConfig.getCurrentCluster()?.server, port: health.port },
  'started',
);
await starter.run(stopping.signal);
await health.close();
await temporal.close();
log.info('stopped');
