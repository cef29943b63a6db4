import { describe } from 'vitest';
import { describeChangesOfMind } from './changes-of-mind.ts';

describe('a cluster with replicas that is written to, and of which people change their minds', () => {
  describeChangesOfMind(1);
});
