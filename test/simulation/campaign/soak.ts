import { Random } from '../engine/random.ts';
import type { Play, Scene, Verdict } from './play.ts';
import { shrinkScene } from './shrink.ts';

/** How a campaign went. */
export interface Outcome {
  readonly runs: number;
  /** The story of the first performance that broke a promise; null when none did. */
  readonly failure: string | null;
}

/** Performs a play so many times, each with a seed of its own, until one performance breaks a promise. */
export async function soak<Incident>(
  play: Play<Incident>,
  options: { readonly seeds: Iterable<string>; readonly onProgress?: (runs: number) => void },
): Promise<Outcome> {
  let runs = 0;
  for (const seed of options.seeds) {
    const scene = play.compose(seed, new Random(seed));
    const verdict = await play.perform(scene);
    runs += 1;
    if (verdict.violations.length > 0) {
      const shrunk = await shrinkScene(play, scene);
      return { runs, failure: tellStory(play, seed, shrunk) };
    }
    options.onProgress?.(runs);
  }
  return { runs, failure: null };
}

function tellStory<Incident>(
  play: Play<Incident>,
  seed: string,
  { scene, verdict }: { readonly scene: Scene<Incident>; readonly verdict: Verdict },
): string {
  const { lostAnswer, frozen, slow } = scene.faults;
  return [
    `${play.name} broke a promise with seed ${seed}:`,
    ...verdict.violations.map((violation) => `  ${violation}`),
    `What it takes (lost answers ${lostAnswer}, frozen attempts ${frozen}, slowness ${slow}, long history ${scene.longHistory}):`,
    ...scene.incidents.map((incident) => `  ${play.tell(incident)}`),
    'What happened:',
    ...verdict.lines,
    `Again: npm run soak -- --play ${play.name} --seed ${seed}`,
  ].join('\n');
}
