import { expect, it } from 'vitest';
import { walk } from './walk.ts';

it.each([2, 3, 4, 5, 6])(
  'random walk %i on real nodes loses no confirmed write, and ends where it was last wished to be',
  async (seed) => {
    const { story, report } = await walk(seed);
    expect(report, story).toMatchObject({ lost: [], wentBack: [] });
  },
);
