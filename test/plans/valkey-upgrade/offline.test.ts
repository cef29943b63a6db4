import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { askUpgradePlan, planUpgradeOffline } from '../../../starter/cli/commands/upgrade-plan.ts';
import { planUpgrade } from '../../../workflows/valkey-upgrade/domain/plan.ts';
import { worldOn } from './shards-on-versions.ts';

const manifest = (spec: object): object => ({
  apiVersion: 'valkey-operator.smoketurner.com/v1alpha1',
  kind: 'ValkeyUpgrade',
  metadata: { name: 'to-9.1.2' },
  spec: { clusterRef: { name: 'cache' }, targetVersion: '9.1.2', ...spec },
});
const observed = { nodes: worldOn('9.0.0', 1).nodes };
const plan = (spec: object = {}, seen: unknown = observed) =>
  planUpgradeOffline({ resource: manifest(spec), observed: seen, intent: undefined });

describe('the plan of an upgrade from files alone', () => {
  it('is the plan of the cluster that it names', () => {
    const wish = {
      from: '9.0.0',
      to: '9.1.2',
      masters: 3,
      replicasPerMaster: 1,
      strategy: 'InPlace',
      maxUnavailableShards: 2,
    } as const;
    const envelope = plan({ strategy: 'InPlace', maxUnavailableShards: 2 });
    expect(envelope).toMatchObject({ lifecycle: 'valkey-cluster', resource: 'default/cache', blocked: [] });
    expect(envelope.steps).toEqual(planUpgrade(observed, wish).steps);
  });

  it('adds a replica where a shard would otherwise be left with one copy', () => {
    expect(plan().steps[0]).toMatchObject({ kind: 'CreateShard', shard: 0, pods: 3 });
    expect(plan({}, { nodes: worldOn('9.0.0', 2).nodes }).steps[0]).toMatchObject({ pods: 3 });
  });

  it('goes on from a half of it', () => {
    const half = observed.nodes.map((node) => (node.shard === 0 ? { ...node, version: '9.1.2' } : node));
    const shards = plan({ strategy: 'InPlace' }, { nodes: half }).steps.flatMap((step) =>
      'shard' in step ? step.shard : [],
    );
    expect([...new Set(shards)]).toEqual([1, 2]);
  });

  it('judges what must hold before it begins, as far as the files tell, and lists the rest', () => {
    const checks = ['ClusterRunning', 'ClusterOk', 'ReplicasInSync', 'NothingMoves', 'RoomForSync'];
    const known = (nodes: readonly object[]) => plan({}, { nodes }).unknown.map(({ guard }) => guard);
    expect(plan().blocked).toEqual([]);
    expect(known(observed.nodes)).toEqual(expect.arrayContaining(checks));
    const told = observed.nodes.map((node) => ({ ...node, linkUp: true, openSlots: [], usedMemory: 1 }));
    expect(known(told).filter((guard) => checks.includes(guard))).toEqual(['ClusterRunning', 'ClusterOk']);
  });

  it.each([
    ['ClusterOk', { slots: [] }],
    ['ReplicasInSync', { linkUp: false }],
    ['NothingMoves', { openSlots: [{ slot: 7, direction: 'migrating', peer: 'x' }] }],
    ['RoomForSync', { usedMemory: 2 ** 50 }],
  ])('is blocked by %s, which a node of the file tells', (guard, change) => {
    const role = guard === 'ReplicasInSync' ? 'replica' : 'master';
    const at = observed.nodes.findIndex((node) => node.role === role);
    const nodes = observed.nodes.map((node, n) => ({ ...node, usedMemory: 1, ...(n === at ? change : {}) }));
    expect(plan({}, { nodes }).blocked.map((one) => one.guard)).toContain(guard);
  });

  it.each([
    ['a version that is none', { targetVersion: 'newest' }, observed, /is no version/],
    ['an older version', { targetVersion: '8.1.8' }, observed, /allowDowngrade/],
    ['no replica in place', { strategy: 'InPlace' }, { nodes: worldOn('9.0.0', 0).nodes }, /strategy Surge/],
    ['a field that there is not', { strateggy: 'Surge' }, observed, /spec: Unrecognized key/],
    ['a strategy that there is not', { strategy: 'Sideways' }, observed, /spec\.strategy/],
    ['no shard at a time', { maxUnavailableShards: 0 }, observed, /from 1 to 100 shards/],
    ['a cluster that is empty', {}, { nodes: [] }, /no node is a master/],
    [
      'nodes without a version',
      {},
      { nodes: observed.nodes.map((node) => ({ ...node, version: undefined })) },
      /not every node has a version/,
    ],
  ] as const)('is refused in words: %s', (_, spec, seen, words) => {
    expect(() => plan(spec, seen)).toThrow(words);
  });
});

describe('the plan of an upgrade from the live cluster', () => {
  it('is asked of the cluster that it names', () => {
    const { of, asked } = askUpgradePlan(manifest({ bakeSeconds: 5 }));
    expect(of).toBe('cache');
    expect(asked).toEqual({
      upgrade: {
        name: 'to-9.1.2',
        spec: { clusterRef: { name: 'cache' }, targetVersion: '9.1.2', bakeSeconds: 5 },
      },
    });
  });

  it('is not asked for what the API server would refuse', () => {
    expect(() => askUpgradePlan(manifest({ bakeSeconds: -1 }))).toThrow(/bakeSeconds/);
  });
});

interface Field {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly type: string;
  readonly properties?: Readonly<Record<string, Field>>;
}

/** Values at and just over each limit that the definition of the resource gives a field: which it takes, and which not. */
function limitsOf(field: Field): {
  readonly taken: readonly unknown[];
  readonly refused: readonly unknown[];
} {
  const { minimum, maximum, minLength, maxLength, pattern } = field;
  if (field.enum !== undefined) return { taken: field.enum, refused: ['Sideways'] };
  if (field.type === 'boolean') return { taken: [true, false], refused: ['true'] };
  if (minimum !== undefined && maximum !== undefined)
    return { taken: [minimum, maximum], refused: [minimum - 1, maximum + 1, minimum + 0.5] };
  // Texts of every length that begin as a version does, so that only their length decides.
  const text = (length: number): string => '9.1.2-'.padEnd(length, 'x').slice(0, length);
  const long = maxLength === undefined ? [] : [text(maxLength + 1)];
  return {
    taken: maxLength === undefined ? [] : [text(maxLength)],
    refused: [...long, ...(minLength === 1 ? [''] : []), ...(pattern === undefined ? [] : ['newest', '9'])],
  };
}

describe('what a manifest may say', () => {
  const file = new URL('../../../deploy/crds/valkeyupgrade.yaml', import.meta.url);
  const definition = parse(readFileSync(file, 'utf8')) as {
    readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Field } }[] };
  };
  const fields = definition.spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec']?.properties ?? {};
  const { clusterRef, ...others } = fields;
  const nested = Object.entries(clusterRef?.properties ?? {}).map(
    ([name, field]) =>
      [
        `clusterRef.${name}`,
        field,
        (value: unknown) => ({ clusterRef: { name: 'cache', [name]: value } }),
      ] as const,
  );
  const flat = Object.entries(others).map(
    ([name, field]) => [name, field, (value: unknown) => ({ [name]: value })] as const,
  );

  it.each([...flat, ...nested])('of %s is what the definition of the resource takes', (_, field, spec) => {
    const { taken, refused } = limitsOf(field);
    expect(taken.length + refused.length).toBeGreaterThan(1);
    const takes = (value: unknown): boolean => {
      try {
        askUpgradePlan(manifest(spec(value)));
        return true;
      } catch {
        return false;
      }
    };
    expect(taken.filter((value) => !takes(value))).toEqual([]);
    expect(refused.filter(takes)).toEqual([]);
  });
});
