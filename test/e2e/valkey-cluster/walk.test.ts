import { expect, it } from 'vitest';
import { walk } from './walk.ts';

it('a random walk on real nodes loses no confirmed write, and ends where it was last wished to be', async () => {
  const { story, report } = await walk(1);
  expect(report, story).toMatchObject({ lost: [], wentBack: [] });
});
