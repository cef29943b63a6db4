import { parseArgs } from 'node:util';
import { soak, type Outcome } from './campaign/soak.ts';
import { lampRowPlay } from './lamp-row/play.ts';
import { valkeyClusterPlay } from './valkey-cluster/play.ts';

type Soak = (options: Parameters<typeof soak>[1]) => Promise<Outcome>;

/** Everything that can be played, by the name of its lifecycle. */
const PLAYS: Readonly<Record<string, Soak>> = {
  [lampRowPlay.name]: (options) => soak(lampRowPlay, options),
  [valkeyClusterPlay.name]: (options) => soak(valkeyClusterPlay, options),
};

const { values } = parseArgs({
  options: {
    play: { type: 'string' },
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string' },
    from: { type: 'string', default: '1' },
  },
});

const runs = Number(values.runs);
const from = Number(values.from);
const seeds =
  values.seed === undefined ? Array.from({ length: runs }, (_, at) => String(from + at)) : [values.seed];
const chosen = Object.entries(PLAYS).filter(([name]) => values.play === undefined || values.play === name);
if (chosen.length === 0) {
  console.error(`there is no play ${values.play}: ${Object.keys(PLAYS).join(', ')}`);
  process.exit(2);
}
for (const [name, play] of chosen) {
  const startedAtMs = performance.now();
  const outcome = await play({
    seeds,
    onProgress(done) {
      if (done % 1_000 === 0) console.error(`${name}: ${done} of ${seeds.length}`);
    },
  });
  const seconds = (performance.now() - startedAtMs) / 1000;
  if (outcome.failure !== null) console.log(outcome.failure);
  const perMinute = Math.round((outcome.runs / seconds) * 60);
  const failures = outcome.failure === null ? 0 : 1;
  console.log(
    `${name}: ${outcome.runs} runs, ${failures} failures, ${seconds.toFixed(1)} s, ${perMinute} a minute`,
  );
  if (failures > 0) process.exitCode = 1;
}
