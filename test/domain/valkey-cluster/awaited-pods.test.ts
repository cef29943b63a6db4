import { describe, expect, test } from 'vitest';
import { planValkeyCluster } from '../../../workflows/valkey-cluster/domain/plan.ts';
import { selectAwaited } from '../../../workflows/valkey-cluster/performers.ts';
import { sampleObservation } from './sample-observation.ts';

const observed = sampleObservation();
const none = planValkeyCluster(observed, { masters: 3, replicasPerMaster: 1 });

describe('the pods that are awaited', () => {
  test('are those of all shards that stay: pods go one by one, and a plan may have seen the first only', () => {
    expect(selectAwaited(observed, none, { shards: [1], pods: 2 })).toMatchObject({
      selector: expect.stringContaining('in (1,0,2)') as string,
      count: 6,
    });
  });

  test('are not those of a shard that leaves', () => {
    const leaving = {
      kind: 'RemoveShard',
      id: '1',
      group: 1,
      shard: 2,
      irreversible: true,
      reason: '',
    } as const;
    const plan = { ...none, steps: [leaving] };
    expect(selectAwaited(observed, plan, { shards: [0], pods: 2 })).toMatchObject({ count: 4 });
  });

  test('are not those of a shard that has one too many: it may never come', () => {
    const shards = observed.shards.map((set) => (set.shard === 1 ? { ...set, replicas: 3 } : set));
    expect(selectAwaited({ ...observed, shards }, none, { shards: [0], pods: 2 })).toMatchObject({
      count: 4,
    });
  });
});
