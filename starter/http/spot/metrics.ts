import { Gauge, Registry } from 'prom-client';
import type { Store } from './store.ts';

/** Metrics that are counted in the database when they are asked for, so that every replica of the API says the same. */
export function createSpotMetrics(store: Store): Registry {
  const registry = new Registry();
  const statuses = new Gauge({
    name: 'instance_status',
    help: 'Instances by status and client.',
    labelNames: ['status', 'client'],
    registers: [registry],
    async collect() {
      const rows = await store.read(
        'SELECT client_id AS client, instance_status AS status, COUNT(*) AS total FROM instances GROUP BY 1, 2',
      );
      statuses.reset();
      for (const row of rows)
        statuses.set({ client: String(row['client']), status: String(row['status']) }, Number(row['total']));
    },
  });
  const primaries = new Gauge({
    name: 'instance_primaries_per_agent_max',
    help: 'The most PRIMARY rows that one agent has: over one is a broken promise.',
    registers: [registry],
    async collect() {
      const [row] = await store.read(
        'SELECT COALESCE(MAX(total), 0) AS most FROM (SELECT COUNT(*) AS total FROM instances WHERE is_primary GROUP BY agent_id) AS counted',
      );
      primaries.set(Number(row?.['most']));
    },
  });
  return registry;
}
