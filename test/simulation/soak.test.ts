import { expect, it } from 'vitest';
import type { Play } from './campaign/play.ts';
import { soak } from './campaign/soak.ts';
import { lampRowPlay } from './lamp-row/play.ts';
import { valkeyClusterPlay } from './valkey-cluster/play.ts';

const seeds = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `check-${at + 1}`);

it('keeps every promise in a hundred stories of delays, repeats, crashes and people who change their minds', async () => {
  const outcome = await soak(lampRowPlay, { seeds: seeds(100) });
  expect(outcome.failure).toBeNull();
  expect(outcome.runs).toBe(100);
});

it('keeps every slot served once in fifty lives of a Valkey cluster, and leaves nothing of it', async () => {
  const outcome = await soak(valkeyClusterPlay, { seeds: seeds(50) });
  expect(outcome.failure).toBeNull();
  expect(outcome.runs).toBe(50);
});

it('tells the same story again for the same seed', async () => {
  const { compose, perform } = lampRowPlay;
  const { Random } = await import('./engine/random.ts');
  const play = async (): Promise<readonly string[]> =>
    (await perform(compose('again', new Random('again')))).lines;
  expect(await play()).toEqual(await play());
});

it('shrinks a failing story to what it takes, and prints its seed', async () => {
  // A play that breaks its promise as soon as somebody cancels.
  const broken: Play<{ readonly verb: string }> = {
    name: 'broken',
    compose: (seed) => ({
      seed,
      faults: { lostAnswer: 0.5, frozen: 0.5, slow: 0.5 },
      longHistory: 8,
      incidents: ['pause', 'resume', 'cancel', 'retry', 'approve'].map((verb) => ({ verb })),
    }),
    async perform({ incidents }) {
      const violations = incidents.some(({ verb }) => verb === 'cancel') ? ['it was cancelled'] : [];
      return { violations, lines: incidents.map(({ verb }) => verb) };
    },
    tell: ({ verb }) => verb,
  };
  const { failure } = await soak(broken, { seeds: ['7'] });
  expect(failure).toBe(
    [
      'broken broke a promise with seed 7:',
      '  it was cancelled',
      'What it takes (lost answers 0, frozen attempts 0, slowness 0, long history 1000000):',
      '  cancel',
      'What happened:',
      'cancel',
      'Again: npm run soak -- --play broken --seed 7',
    ].join('\n'),
  );
});
