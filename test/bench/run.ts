import { parseArgs } from 'node:util';
import { runBench, type Bench } from './bench.ts';

/** Every benchmark, by the name that people type. */
const BENCHES: Readonly<Record<string, () => Promise<Bench>>> = {
  'step-overhead': async () => (await import('./benches/step-overhead.ts')).stepOverhead,
  'trigger-latency': async () => (await import('./benches/trigger-latency.ts')).triggerLatency,
  'entities-1000': async () => (await import('./benches/entities-1000.ts')).entities1000,
  'datamesh-model': async () => (await import('./benches/datamesh-model.ts')).datameshModel,
  'spot-failover': async () => (await import('./benches/spot-failover.ts')).spotFailover,
  'create-cluster': async () => (await import('./benches/create-cluster.ts')).createCluster,
  'valkey-handoff': async () => (await import('./benches/valkey-handoff.ts')).valkeyHandoff,
  'valkey-upgrade': async () => (await import('./benches/valkey-upgrade.ts')).valkeyUpgrade,
  'valkey-scale-out': async () => (await import('./benches/valkey-scale-out.ts')).valkeyScaleOut,
  'valkey-heal-ips': async () => (await import('./benches/valkey-heal-ips.ts')).valkeyHealIps,
};

const USAGE = `usage: npm run bench -- <name> [--rounds N] [--keep]

Measures something over a floor that is measured in the same run, and prints the ratio; the last line is JSON.
Benchmarks: ${Object.keys(BENCHES).join(', ')}.

  --rounds N   another number of rounds
  --keep       writes the figures into docs/benchmarks.md`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const load = BENCHES[positionals[0] ?? ''];
if (values.help || load === undefined) {
  process.stderr.write(`${USAGE}\n`);
  process.exit(values.help ? 0 : 2);
}
const rounds = values.rounds === undefined ? {} : { rounds: Number(values.rounds) };
await runBench(await load(), { ...rounds, keep: values.keep });
