import { describe } from 'vitest';
import { describeChangesOfMind } from './changes-of-mind.ts';

describe('a cluster of masters alone that is written to, and of which people change their minds', () => {
  describeChangesOfMind(0);
});
