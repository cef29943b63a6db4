import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ValkeyNode } from '../../../workflows/valkey-cluster/domain/observation.ts';
import { planValkeyCluster, selectShards } from '../../../workflows/valkey-cluster/domain/plan.ts';
import { anyWish as wish, battered, formedCluster } from './any-cluster.ts';
import { checkSlots, perform, slotCounts } from './simulated-cluster.ts';

const SLOTS = 16_384;

/** The least that any balanced sharing of the slots must move, by trying all ways to place the larger shares. */
function fewestMoves(nodes: readonly ValkeyNode[], masters: number): number {
  const shards = [...new Set(nodes.map((node) => node.shard))].toSorted((a, b) => a - b);
  const counts = slotCounts(nodes);
  const held = (shard: number): number => counts[shards.indexOf(shard)] ?? 0;
  const wanted = selectShards(shards, masters);
  const even = Math.floor(SLOTS / masters);
  const larger = SLOTS % masters;
  const leaving = shards
    .filter((shard) => !wanted.includes(shard))
    .reduce((sum, shard) => sum + held(shard), 0);
  let best = Infinity;
  for (let choice = 0; choice < 2 ** masters; choice += 1) {
    const plus = wanted.map((_, at) => (choice >> at) & 1);
    if (plus.reduce((sum, one) => sum + one, 0) !== larger) continue;
    const above = wanted.map((shard, at) => Math.max(0, held(shard) - even - (plus[at] ?? 0)));
    best = Math.min(best, leaving + above.reduce((sum, one) => sum + one, 0));
  }
  return best;
}

describe('a plan for any cluster', () => {
  it('keeps every slot served exactly once after each step, and leaves nothing to plan', () => {
    fc.assert(
      fc.property(
        formedCluster(8),
        wish,
        fc.array(fc.nat(), { minLength: 1, maxLength: 40 }),
        (whole, wish, blows) => {
          const nodes = battered(whole, blows);
          const plan = planValkeyCluster({ nodes }, wish);
          let now = nodes;
          for (const step of plan.steps) {
            now = perform(now, step);
            checkSlots(now, true);
          }
          expect(planValkeyCluster({ nodes: now }, wish)).toMatchObject({ operation: 'none', steps: [] });
          expect(now).toHaveLength(wish.masters * (1 + wish.replicasPerMaster));
          expect(new Set(now.filter((node) => node.role === 'master').map((node) => node.shard)).size).toBe(
            wish.masters,
          );
        },
      ),
    );
  });

  it('moves the fewest slots that a balanced cluster allows', () => {
    fc.assert(
      fc.property(formedCluster(8), wish, (nodes, wish) => {
        const plan = planValkeyCluster({ nodes }, wish, { rebalance: true });
        expect(plan.totals['slotsMoved']).toBe(fewestMoves(nodes, wish.masters));
        const counts = slotCounts(plan.steps.reduce(perform, nodes));
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('can be given up after any step and planned again to the same end', () => {
    fc.assert(
      fc.property(formedCluster(8), wish, fc.nat({ max: 60 }), (nodes, wish, steps) => {
        const first = planValkeyCluster({ nodes }, wish);
        const half = first.steps.slice(0, steps).reduce(perform, nodes);
        const second = planValkeyCluster({ nodes: half }, wish, { rebalance: true });
        const end = second.steps.reduce(perform, half);
        checkSlots(end, true);
        expect(slotCounts(end)).toHaveLength(wish.masters);
        expect(planValkeyCluster({ nodes: end }, wish).operation).toBe('none');
      }),
    );
  });

  it('does not depend on the order in which nodes are observed', () => {
    fc.assert(
      fc.property(formedCluster(8), wish, (nodes, wish) => {
        const forwards = planValkeyCluster({ nodes }, wish);
        expect(planValkeyCluster({ nodes: nodes.toReversed() }, wish)).toEqual(forwards);
      }),
    );
  });

  it('lets a replica keep its master unless its pod leaves', () => {
    fc.assert(
      fc.property(formedCluster(8), wish, (nodes, wish) => {
        const plan = planValkeyCluster({ nodes }, wish);
        const handedOver = new Set(
          plan.steps.flatMap((step) => (step.kind === 'HandOver' ? [step.shard] : [])),
        );
        const end = plan.steps.reduce(perform, nodes);
        const moved = nodes.filter(
          (node) =>
            node.role === 'replica' &&
            !handedOver.has(node.shard) &&
            end.some((then) => then.id === node.id && then.masterId !== node.masterId),
        );
        expect(moved).toEqual([]);
      }),
    );
  });

  it('moves slots together and nothing beside them, by one job for each source and target', () => {
    fc.assert(
      fc.property(formedCluster(8), wish, (nodes, wish) => {
        const { steps } = planValkeyCluster({ nodes }, wish);
        const moves = steps.filter((step) => step.kind === 'MigrateSlots');
        const groups = new Set(moves.map((move) => move.group));
        expect(groups.size).toBeLessThanOrEqual(1);
        expect(steps.filter((step) => groups.has(step.group))).toEqual(moves);
        expect(new Set(moves.map((move) => `${move.from} ${move.to}`)).size).toBe(moves.length);
      }),
    );
  });

  it('lets no shard give to two others at once where plans were made before jobs could queue', () => {
    fc.assert(
      fc.property(formedCluster(8), wish, (nodes, wish) => {
        const { steps } = planValkeyCluster({ nodes }, wish, { jobsInTurn: true });
        const moves = steps.filter((step) => step.kind === 'MigrateSlots');
        const pairs = moves.map((move) => `${move.group} ${move.from}`);
        expect(new Set(pairs).size).toBe(pairs.length);
      }),
    );
  });
});

describe('a plan for a cluster that is being created', () => {
  it('goes on from any step, also to another wish', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.nat({ max: 2 }),
        fc.nat({ max: 60 }),
        wish,
        (masters, replicasPerMaster, steps, wish) => {
          const first = planValkeyCluster({ nodes: [] }, { masters, replicasPerMaster });
          const half = first.steps.slice(0, steps).reduce<readonly ValkeyNode[]>(perform, []);
          const second = planValkeyCluster({ nodes: half }, wish, { formed: false });
          const end = second.steps.reduce(perform, half);
          checkSlots(end, true);
          const counts = slotCounts(end);
          expect(counts).toHaveLength(wish.masters);
          expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
          expect(planValkeyCluster({ nodes: end }, wish).operation).toBe('none');
        },
      ),
    );
  });
});
