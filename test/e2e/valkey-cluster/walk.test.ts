import { it } from 'vitest';
import { walk } from './walk.ts';

it('a random walk on real nodes loses no confirmed write, and ends where it was last wished to be', () =>
  walk(1));
