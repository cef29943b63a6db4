import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ValkeyStep } from '../../../workflows/valkey-cluster/domain/commands.ts';
import { ordinalOf } from '../../../workflows/valkey-cluster/domain/topology.ts';
import {
  planRollback,
  planUpgrade,
  refuseRollback,
  type UpgradeWish,
} from '../../../workflows/valkey-upgrade/domain/plan.ts';
import { tagOf } from '../../../workflows/valkey-upgrade/domain/resource.ts';
import { checkSlots, perform } from '../valkey-cluster/simulated-cluster.ts';
import { imageOf, podOf, withTag, worldOn, type World } from './shards-on-versions.ts';

const FROM = ['9.0.0', '8.1.8'] as const;
const TO = '9.1.2';

const cases = fc.record({
  from: fc.constantFrom(...FROM),
  replicas: fc.nat({ max: 3 }),
  surge: fc.boolean(),
  width: fc.integer({ min: 1, max: 3 }),
  steps: fc.nat({ max: 60 }),
});

type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

const wishOf = ({ from, replicas, surge, width }: Case): UpgradeWish => ({
  from,
  to: TO,
  masters: 3,
  replicasPerMaster: replicas,
  strategy: surge || replicas === 0 ? 'Surge' : 'InPlace',
  maxUnavailableShards: width,
});

/** Does one step as the real world would. */
function advance(world: World, step: ValkeyStep): World {
  const nodes = perform(world.nodes, step);
  if (step.kind === 'CreateShard') {
    const shards = world.shards.map((set) =>
      set.shard === step.shard ? { ...set, replicas: step.pods, image: imageOf(step.tag ?? '') } : set,
    );
    const known = new Set(world.pods.map((pod) => pod.name));
    const come = nodes.filter((node) => !known.has(node.pod)).map((node) => podOf(node, step.tag ?? ''));
    return { nodes, shards, pods: [...world.pods, ...come] };
  }
  if (step.kind === 'RemoveReplica') {
    const shards = world.shards.map((set) =>
      set.shard === step.shard ? { ...set, replicas: step.pods } : set,
    );
    return { nodes, shards, pods: world.pods.filter((pod) => nodes.some((node) => node.pod === pod.name)) };
  }
  if (step.kind !== 'RestartPod') return { ...world, nodes };
  const set = world.shards.find((one) => one.shard === step.shard);
  return withTag({ ...world, nodes }, tagOf(set?.image ?? ''), step.shard, [step.pod]);
}

const stateOf = (world: World, pod: string) => {
  const node = world.nodes.find((one) => one.pod === pod);
  const image = world.pods.find((one) => one.name === pod)?.image ?? '';
  return { leads: node?.role === 'master' && node.slots.length > 0, tag: tagOf(image) };
};

const versionsOf = (world: World): readonly string[] => [
  ...new Set([
    ...world.pods.map((pod) => tagOf(pod.image ?? '')),
    ...world.shards.map((set) => tagOf(set.image)),
  ]),
];

/** Goes through a plan, and fails where a step takes away more than it may; gives the world after it. */
function follow(start: World, steps: readonly ValkeyStep[], wish: UpgradeWish): World {
  const least = wish.strategy === 'Surge' ? 1 + wish.replicasPerMaster : wish.replicasPerMaster;
  return steps.reduce((world, step) => {
    const wrong = step.kind === 'RestartPod' ? wrongWithRestart(world, step, least) : null;
    if (wrong !== null) throw new Error(wrong);
    const next = advance(world, step);
    checkSlots(next.nodes, true);
    return next;
  }, start);
}

/** A master hands over before; with a surge, as many nodes are left as there are in peace. */
function wrongWithRestart(
  world: World,
  { shard, pod }: { readonly shard: number; readonly pod: string },
  least: number,
): string | null {
  const left = world.nodes.filter((node) => node.shard === shard && node.pod !== pod);
  if (stateOf(world, pod).leads) return `${pod} leads and restarts`;
  return left.length < least ? `${left.length} nodes of shard ${shard} are left without ${pod}` : null;
}

/** The shards that are disturbed at each moment: from their first step to their last. */
function widest(steps: readonly ValkeyStep[]): number {
  const spans = new Map<number, { first: number; last: number }>();
  for (const step of steps) {
    if (!('shard' in step) || step.shard === null) continue;
    const span = spans.get(step.shard) ?? { first: step.group, last: step.group };
    spans.set(step.shard, { first: span.first, last: step.group });
  }
  const groups = steps.map((step) => step.group);
  return Math.max(
    0,
    ...groups.map(
      (group) => [...spans.values()].filter((one) => one.first <= group && group <= one.last).length,
    ),
  );
}

describe('the plan of any upgrade', () => {
  it('brings every node to the target, one disturbance at a time in each shard, and never restarts a master', () => {
    fc.assert(
      fc.property(cases, (one) => {
        const wish = wishOf(one);
        const plan = planUpgrade(worldOn(one.from, one.replicas), wish);
        const end = follow(worldOn(one.from, one.replicas), plan.steps, wish);
        expect(versionsOf(end)).toEqual([TO]);
        expect(end.nodes).toHaveLength(3 * (1 + one.replicas));
        expect(planUpgrade(end, wish).steps.map((step) => step.kind)).toEqual(['VerifyHealth']);
      }),
    );
  });

  it('disturbs at most as many shards at a time as it may', () => {
    fc.assert(
      fc.property(cases, (one) => {
        const { steps } = planUpgrade(worldOn(one.from, one.replicas), wishOf(one));
        expect(widest(steps)).toBe(one.width);
      }),
    );
  });

  it('hands a shard only to a node of the target version', () => {
    fc.assert(
      fc.property(cases, (one) => {
        const wish = wishOf(one);
        let world = worldOn(one.from, one.replicas);
        const heirs: string[] = [];
        for (const step of planUpgrade(world, wish).steps) {
          if (step.kind === 'HandOver') heirs.push(stateOf(world, step.to).tag);
          world = advance(world, step);
        }
        expect(new Set(heirs)).toEqual(new Set([TO]));
      }),
    );
  });

  it('can be given up after any step and planned again to the same end', () => {
    fc.assert(
      fc.property(cases, (one) => {
        const wish = wishOf(one);
        const first = planUpgrade(worldOn(one.from, one.replicas), wish);
        const half = first.steps.slice(0, one.steps).reduce(advance, worldOn(one.from, one.replicas));
        const end = follow(half, planUpgrade(half, wish).steps, { ...wish, strategy: 'InPlace' });
        expect(versionsOf(end)).toEqual([TO]);
        expect(end.nodes.every((node) => (ordinalOf(node) ?? 0) <= one.replicas)).toBe(true);
      }),
    );
  });

  it('has a way back after any step, unless it says that there is none', () => {
    fc.assert(
      fc.property(cases, (one) => {
        const wish = wishOf(one);
        const first = planUpgrade(worldOn(one.from, one.replicas), wish);
        const half = first.steps.slice(0, one.steps).reduce(advance, worldOn(one.from, one.replicas));
        const refusal = refuseRollback(half, wish);
        const passed = first.steps.slice(0, one.steps).some((step) => step.irreversible);
        expect(refusal === null).toBe(!passed);
        if (refusal !== null) return;
        const end = follow(half, planRollback(half, wish).steps, { ...wish, strategy: 'InPlace' });
        expect(versionsOf(end)).toEqual([one.from]);
        expect(end.nodes).toHaveLength(3 * (1 + one.replicas));
      }),
    );
  });

  it('takes a snapshot right before each step that can not be undone', () => {
    fc.assert(
      fc.property(cases, (one) => {
        const { steps } = planUpgrade(worldOn(one.from, one.replicas), wishOf(one));
        const last = steps.filter((step) => step.irreversible);
        expect(last.length).toBe(one.from === '8.1.8' ? 3 : 0);
        for (const step of last) {
          const pod = step.kind === 'RestartPod' ? step.pod : '';
          const before = steps.filter((other) => other.group === step.group - 1);
          expect(before.some((other) => other.kind === 'Snapshot' && other.pod === pod)).toBe(true);
        }
      }),
    );
  });
});
