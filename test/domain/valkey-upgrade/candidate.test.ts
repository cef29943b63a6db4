import { describe, expect, it } from 'vitest';
import type { ValkeyNode } from '../../../workflows/valkey-cluster/domain/observation.ts';
import { selectCandidate } from '../../../workflows/valkey-upgrade/domain/candidate.ts';

const node = (pod: string, offset: number, zone: string): ValkeyNode => ({
  id: pod,
  pod,
  shard: 0,
  role: 'replica',
  slots: [],
  zone,
  ready: true,
  offset,
});

const master = { ...node('cache-0-0', 1000, 'a'), role: 'master' as const };

describe('who takes over', () => {
  it.each([
    ['the only replica', [node('x', 10, 'b')], 'x', 'the only replica'],
    [
      'the one with the lowest lag',
      [node('x', 900, 'a'), node('y', 990, 'b')],
      'y',
      'the lowest lag of 2 replicas (10 bytes)',
    ],
    [
      'among equals the one in the zone of the old master',
      [node('x', 1000, 'b'), node('y', 1000, 'a')],
      'y',
      'the lowest lag of 2 replicas (0 bytes), in the zone of the old master',
    ],
    [
      'then the first by name',
      [node('y', 1000, 'b'), node('x', 1000, 'b')],
      'x',
      'the lowest lag of 2 replicas (0 bytes), the first by name',
    ],
    [
      'and of several in that zone the first by name',
      [node('z', 1000, 'b'), node('y', 1000, 'a'), node('x', 1000, 'a')],
      'x',
      'the lowest lag of 3 replicas (0 bytes), in the zone of the old master and the first by name',
    ],
  ])('is %s, and says why', (_, replicas, pod, why) => {
    expect(selectCandidate(replicas, master)).toMatchObject({ node: { pod }, why });
  });

  it('is nobody where there is no replica', () => {
    expect(selectCandidate([], master)).toBeNull();
  });
});
