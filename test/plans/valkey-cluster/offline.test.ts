import { describe, expect, it } from 'vitest';
import { planValkeyOffline } from '../../../starter/cli/commands/valkey-plan.ts';
import { clusterNodes } from './simulated-cluster.ts';

const resource = (spec: object): object => ({
  apiVersion: 'valkey-operator.smoketurner.com/v1alpha1',
  kind: 'ValkeyCluster',
  metadata: { name: 'cache' },
  spec,
});
const observed = { nodes: clusterNodes([5461, 5461, 5462], 1) };
const plan = (spec: object, seen: unknown = observed) =>
  planValkeyOffline({ resource: resource(spec), observed: seen, intent: undefined });

describe('a plan from files alone', () => {
  it('is the envelope that everybody reads', () => {
    const envelope = plan({ masters: 4 });
    expect(envelope).toMatchObject({
      lifecycle: 'valkey-cluster',
      resource: 'default/cache',
      operation: 'scale-up',
      version: 1,
      blocked: [],
      totals: { slotsMoved: 4096, steps: 8 },
    });
    expect(envelope.hash).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(envelope.steps[4]).toMatchObject({
      id: '5',
      kind: 'MigrateSlots',
      group: 5,
      irreversible: false,
      from: 0,
      to: 3,
      ranges: [[4096, 5460]],
      slotCount: 1365,
    });
  });

  it('lists what it could not judge, and blocks nothing for that', () => {
    const { unknown, blocked } = plan({ masters: 4, auth: { secretRef: { name: 'cache-auth' } } });
    expect(unknown.map(({ guard }) => guard)).toEqual([
      'DependenciesExist',
      'MemoryHeadroom',
      'EligibleNodes',
      'NoDowngrade',
    ]);
    expect(blocked).toEqual([]);
  });

  it('has the same hash while data changes, and another for another wish', () => {
    const fuller = {
      nodes: observed.nodes.map((node) => ({ ...node, keys: 7, usedMemory: 1000, offset: 5 })),
    };
    expect(plan({ masters: 4 }, fuller).hash).toBe(plan({ masters: 4 }).hash);
    expect(plan({ masters: 5 }).hash).not.toBe(plan({ masters: 4 }).hash);
  });

  it('reaches a tag that the manifest names by an upgrade, once the shape is right', () => {
    const on = (version: string) => ({ nodes: observed.nodes.map((node) => ({ ...node, version })) });
    expect(plan({ image: { tag: '9.1.2' } }, on('9.0.0'))).toMatchObject({
      operation: 'upgrade',
      blocked: [],
    });
    expect(plan({ image: { tag: '9.1.2' } }, on('9.1.2')).operation).toBe('none');
    expect(plan({ image: { tag: '9.1.2' }, masters: 4 }, on('9.0.0')).operation).toBe('scale-up');
    expect(plan({}, on('9.0.0')).operation).toBe('none');
    expect(plan({ image: { tag: '8.1.8' } }, on('9.0.0')).blocked[0]?.guard).toBe('NoDowngrade');
  });

  it('takes the defaults of the resource where the manifest says nothing', () => {
    expect(plan({}).operation).toBe('none');
  });

  it('plans the creation of a cluster of which nothing is there', () => {
    expect(plan({}, { nodes: [] }).operation).toBe('create');
  });

  it.each([
    ['fewer than 3 masters', { masters: 2 }, observed, /spec\.masters: a cluster has from 3 to 100 masters/],
    ['more than 500 nodes', { masters: 100, replicasPerMaster: 5 }, observed, /more than 500 nodes/],
    ['no nodes', {}, {}, /nodes/],
    ['a role that is none', {}, { nodes: [{ id: 'a', shard: 0, role: 'boss' }] }, /nodes\.0\.role/],
    [
      'a slot that is none',
      {},
      { nodes: [{ id: 'a', shard: 0, role: 'master', slots: [[0, 16384]] }] },
      /16383/,
    ],
    [
      'a range backwards',
      {},
      { nodes: [{ id: 'a', shard: 0, role: 'master', slots: [[5, 2]] }] },
      /first, last/,
    ],
    [
      'two nodes of one id',
      {},
      {
        nodes: [
          { id: 'a', shard: 0, role: 'master' },
          { id: 'a', shard: 1, role: 'master' },
        ],
      },
      /same id/,
    ],
  ])('refuses %s in words, with exit code 2', (_, spec, seen, words) => {
    expect(() => plan(spec, seen)).toThrow(
      expect.objectContaining({ exitCode: 2, message: expect.stringMatching(words) as unknown }) as Error,
    );
  });

  it('wants to know what is wanted', () => {
    expect(() => planValkeyOffline({ resource: undefined, observed, intent: undefined })).toThrow(
      /what is wanted/,
    );
  });
});
