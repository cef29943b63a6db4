import { describe, expect, it } from 'vitest';
import { planValkeyCluster, selectShards } from '../../../workflows/valkey-cluster/domain/plan.ts';
import { checkSlots, clusterNodes, perform, slotCounts } from './simulated-cluster.ts';

/** How a new cluster of this many masters shares its slots. */
function freshCounts(masters: number): readonly number[] {
  const plan = planValkeyCluster({ nodes: [] }, { masters, replicasPerMaster: 0 });
  return plan.steps.flatMap((step) => (step.kind === 'AssignSlots' ? [step.slotCount] : []));
}

describe('the slots of a new cluster', () => {
  it.each([
    [3, [5461, 5461, 5462]],
    [4, [4096, 4096, 4096, 4096]],
  ])('of %i masters are contiguous and even', (masters, counts) => {
    const plan = planValkeyCluster({ nodes: [] }, { masters, replicasPerMaster: 1 });
    expect(plan.operation).toBe('create');
    expect(freshCounts(masters)).toEqual(counts);
    const ranges = plan.steps.flatMap((step) => (step.kind === 'AssignSlots' ? step.ranges : []));
    expect(ranges).toHaveLength(masters);
    expect(ranges[0]?.[0]).toBe(0);
    expect(ranges.at(-1)?.[1]).toBe(16383);
  });
});

describe('the slots that move', () => {
  it.each([
    [3, 4, 4096],
    [5, 6, 2730],
    [9, 10, 1638],
    [3, 6, 8191],
  ])('from %i to %i masters are %i, and not one more', (from, to, slotsMoved) => {
    const nodes = clusterNodes(freshCounts(from), 1);
    const plan = planValkeyCluster({ nodes }, { masters: to, replicasPerMaster: 1 });
    expect(plan.operation).toBe('scale-up');
    expect(plan.totals).toEqual({ slotsMoved, steps: plan.steps.length });
    const end = plan.steps.reduce(perform, nodes);
    checkSlots(end, true);
    expect(Math.max(...slotCounts(end)) - Math.min(...slotCounts(end))).toBeLessThanOrEqual(1);
  });

  it('from 6 to 3 masters end with 5461, 5461 and 5462', () => {
    const nodes = clusterNodes(freshCounts(6), 1);
    const plan = planValkeyCluster({ nodes }, { masters: 3, replicasPerMaster: 1 });
    expect(plan.operation).toBe('scale-down');
    expect(slotCounts(plan.steps.reduce(perform, nodes))).toEqual([5461, 5461, 5462]);
    expect(plan.steps.filter((step) => step.kind === 'MigrateSlots')).toHaveLength(3);
  });

  it('from 6 to 3 masters end the same when the larger shares are the first ones', () => {
    const nodes = clusterNodes([2731, 2731, 2731, 2731, 2730, 2730], 1);
    const plan = planValkeyCluster({ nodes }, { masters: 3, replicasPerMaster: 1 });
    expect(slotCounts(plan.steps.reduce(perform, nodes))).toEqual([5461, 5461, 5462]);
  });

  it('include what a shard that stays holds above its share', () => {
    const nodes = clusterNodes([10000, 2000, 2000, 2384], 0);
    const plan = planValkeyCluster({ nodes }, { masters: 3, replicasPerMaster: 0 });
    expect(plan.totals['slotsMoved']).toBe(2384 + 10000 - 5462);
    expect(slotCounts(plan.steps.reduce(perform, nodes))).toEqual([5462, 5461, 5461]);
  });

  it('are none while the number of masters is right, however uneven they are', () => {
    const nodes = clusterNodes([10000, 4000, 2384], 1);
    expect(planValkeyCluster({ nodes }, { masters: 3, replicasPerMaster: 1 }).operation).toBe('none');
  });

  it('level an uneven cluster when that is asked for', () => {
    const nodes = clusterNodes([10000, 4000, 2384], 1);
    const wish = { masters: 3, replicasPerMaster: 1 };
    const plan = planValkeyCluster({ nodes }, wish, { rebalance: true });
    expect(plan.operation).toBe('rebalance');
    expect(slotCounts(plan.steps.reduce(perform, nodes))).toEqual([5462, 5461, 5461]);
  });

  it('run side by side from different shards, one job for each source and target', () => {
    const nodes = clusterNodes(freshCounts(3), 1);
    const moves = planValkeyCluster({ nodes }, { masters: 4, replicasPerMaster: 1 }).steps.filter(
      (step) => step.kind === 'MigrateSlots',
    );
    expect(moves.map((move) => [move.from, move.to])).toEqual([
      [0, 3],
      [1, 3],
      [2, 3],
    ]);
    expect(new Set(moves.map((move) => move.group)).size).toBe(1);
    expect(moves.every((move) => move.ranges.length === 1)).toBe(true);
  });

  it('run side by side from one shard to several', () => {
    const nodes = clusterNodes([4096, 4096, 4096, 4096], 0);
    const moves = planValkeyCluster({ nodes }, { masters: 3, replicasPerMaster: 0 }).steps.filter(
      (step) => step.kind === 'MigrateSlots',
    );
    expect(moves.map((move) => [move.group, move.from, move.to])).toEqual([
      [1, 3, 0],
      [1, 3, 1],
      [1, 3, 2],
    ]);
  });

  it('carry the keys and bytes of the source when they are known', () => {
    const nodes = clusterNodes(freshCounts(3), 0).map((node) => ({
      ...node,
      keys: 54610,
      usedMemory: 5461000,
    }));
    const move = planValkeyCluster({ nodes }, { masters: 4, replicasPerMaster: 0 }).steps.find(
      (step) => step.kind === 'MigrateSlots',
    );
    expect(move).toMatchObject({ slotCount: 1365, facts: { keys: 13650, bytes: 1365000 } });
  });
});

describe('the shards of a wish', () => {
  it('take the lowest unused number when one comes', () => {
    expect(selectShards([0, 1, 3], 4)).toEqual([0, 1, 2, 3]);
    expect(selectShards([], 3)).toEqual([0, 1, 2]);
  });

  it('lose the highest numbers when some leave', () => {
    expect(selectShards([0, 2, 5, 7], 3)).toEqual([0, 2, 5]);
  });
});
