import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { useStack } from '../../../deploy/local/testing.ts';
import { openDatabase } from '../../../starter/database/connection.ts';
import { createSpotMetrics } from '../../../starter/http/spot/metrics.ts';
import { createStore } from '../../../starter/http/spot/store.ts';
import { createMetrics } from '../../../worker/metrics.ts';
import { SpotWorld } from './spot-world.ts';

const RULES = fileURLToPath(new URL('../../../deploy/prometheus/spot-alerts.yml', import.meta.url));
const run = promisify(execFile);

let world: SpotWorld;
let pool: ReturnType<typeof openDatabase>;
beforeAll(async () => {
  world = await SpotWorld.open();
  pool = openDatabase(world.database.url);
});
afterAll(async () => {
  await pool.end();
  await world.close();
});

/** The program that plays series to rules; it comes with the server, or is on the machine. */
async function findPromtool(): Promise<string> {
  await (await useStack()).startParts('prometheus');
  const cache = process.env['KEELSON_CACHE'] ?? join(homedir(), '.cache', 'keelson');
  const fetched = join(cache, 'prometheus-2.42', 'usr', 'bin', 'promtool');
  return existsSync(fetched) ? fetched : 'promtool';
}

/** Plays series to the rules, and gives what the program says of the alerts that fire after ten minutes. */
async function fire(
  series: readonly (readonly [name: string, values: string])[],
  alerts: object,
): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-rules-'));
  try {
    const file = join(directory, 'test.yml');
    const expected = Object.entries(alerts).map(([alertname, exp_alerts]) => ({
      eval_time: '10m',
      alertname,
      exp_alerts,
    }));
    const input_series = series.map(([name, values]) => ({ series: name, values }));
    const tests = [{ interval: '1m', input_series, alert_rule_test: expected }];
    writeFileSync(file, stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }));
    return (await run(await findPromtool(), ['test', 'rules', file])).stdout;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const alert = (labels: object, summary: string, description: string) => [
  { exp_labels: labels, exp_annotations: { summary, description } },
];

describe('the alert rules', () => {
  it('are silent while all is well', async () => {
    const said = await fire(
      [
        ['instance_primaries_per_agent_max', '1x20'],
        ['instance_status{status="zombie",client="acme"}', '100x20'],
        ['instance_promotion_duration_seconds_count', '0+1x20'],
        ['instance_promotion_duration_seconds_bucket{le="10"}', '0+1x20'],
      ],
      { MultiplePrimaryPerAgent: [], ZombieAccumulation: [], PromotionTimeout: [] },
    );
    expect(said).toContain('SUCCESS');
  });

  it('fire for two PRIMARY rows, for a slow promotion and for too many zombies of one client', async () => {
    const said = await fire(
      [
        ['instance_primaries_per_agent_max', '2x20'],
        ['instance_status{status="zombie",client="acme"}', '101x20'],
        ['instance_promotion_duration_seconds_count', '0+1x20'],
        ['instance_promotion_duration_seconds_bucket{le="10"}', '0x20'],
      ],
      {
        MultiplePrimaryPerAgent: alert(
          { severity: 'critical' },
          'An agent has more than one PRIMARY.',
          'The unique key of the database should make this impossible. Look at once.',
        ),
        ZombieAccumulation: alert(
          { severity: 'warning', client: 'acme' },
          'Client acme has more than 100 zombies.',
          'Review its auto_terminate settings.',
        ),
        PromotionTimeout: alert(
          { severity: 'warning' },
          'A promotion took longer than 10 seconds.',
          'Check the performance of the database.',
        ),
      },
    );
    expect(said).toContain('SUCCESS');
  });
});

describe('the metrics', () => {
  it('count instances by status and client, in the database', async () => {
    await world.database.addAgent(2);
    const body = await createSpotMetrics(createStore(pool)).metrics();
    expect(body).toContain('instance_status{client="acme",status="running_replica"} 2');
    expect(body).toContain('instance_status{client="acme",status="running_primary"} 1');
    expect(body).toContain('instance_primaries_per_agent_max 1');
  });

  it('count promotions, how long they took and why they failed, under the specification’s names', async () => {
    const { promotions, registry } = createMetrics();
    promotions.promoted(0.02);
    promotions.failed('VersionConflict');
    const text = await registry.metrics();
    expect(text).toContain('instance_promotions_total 1');
    expect(text).toContain('instance_promotion_failures_total{reason="VersionConflict"} 1');
    expect(text).toContain('instance_promotion_duration_seconds_bucket{le="0.025"} 1');
  });
});
