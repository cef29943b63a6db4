import { KubeConfig } from '@kubernetes/client-node';
import { pino } from 'pino';
import { readConfiguration } from './configuration.ts';
import { serveHealth } from './http/health.ts';
import { Starter } from './starter.ts';
import { openTemporal } from './temporal-connection.ts';
import type { LifecycleWatch } from './watch-definition.ts';

/** The whole process: configuration from the environment, health endpoints, and an end that loses nothing on SIGTERM. */
export async function runService(watches: readonly LifecycleWatch[]): Promise<void> {
  const configuration = readConfiguration(process.env);
  const log = pino({ name: 'starter', level: configuration.logLevel });
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromDefault();
  const temporal = openTemporal();
  const { lease, tuning } = configuration;
  const delivery = { tuning };
  const starter = new Starter({ kubeConfig, client: temporal.client, watches, log, lease, delivery });
  const health = await serveHealth(
    { live: () => starter.notLive(), ready: () => starter.notReady(), registry: starter.metrics.registry },
    configuration,
  );
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      log.info({ signal: name }, 'stopping');
      stopping.abort();
    });
  }
  log.info(
    { temporal: temporal.address, kubernetes: kubeConfig.getCurrentCluster()?.server, port: health.port },
    'started',
  );
  await starter.run(stopping.signal);
  await health.close();
  await temporal.close();
  log.info('stopped');
}
