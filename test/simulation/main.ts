import { parseArgs } from 'node:util';
import { soak } from './campaign/soak.ts';
import { lampRowPlay } from './lamp-row/play.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string' },
    from: { type: 'string', default: '1' },
  },
});

const runs = Number(values.runs);
const from = Number(values.from);
const startedAtMs = performance.now();
const seeds =
  values.seed === undefined ? Array.from({ length: runs }, (_, at) => String(from + at)) : [values.seed];
const outcome = await soak(lampRowPlay, {
  seeds,
  onProgress(done) {
    if (done % 1_000 === 0) console.error(`${done} of ${seeds.length}`);
  },
});
const seconds = (performance.now() - startedAtMs) / 1000;
if (outcome.failure !== null) console.log(outcome.failure);
const perMinute = Math.round((outcome.runs / seconds) * 60);
console.log(
  `${outcome.runs} runs, ${outcome.failure === null ? 0 : 1} failures, ${seconds.toFixed(1)} s, ${perMinute} a minute`,
);
process.exitCode = outcome.failure === null ? 0 : 1;
