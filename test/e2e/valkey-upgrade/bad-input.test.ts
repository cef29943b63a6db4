import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiError } from '../../../deploy/local/kubernetes/api.ts';
import type { ClusterWorld } from '../../valkey/cluster-world.ts';
import { applyUpgrade, awaitUpgrade, readUpgrade, tagsOf } from '../../valkey/upgrade-world.ts';
import { clusterOn } from './under-load.ts';

let world: ClusterWorld;
beforeAll(async () => {
  world = await clusterOn('9.0.0', 0);
});
afterAll(() => world.remove());

describe('what the API server refuses', () => {
  it.each([
    ['a version that is none', 'newest', {}, /targetVersion/],
    ['a strategy that there is not', '9.1.2', { strategy: 'Sideways' }, /strategy/],
    ['no shard at a time', '9.1.2', { maxUnavailableShards: 0 }, /maxUnavailableShards/],
    ['a time below zero', '9.1.2', { bakeSeconds: -1 }, /bakeSeconds/],
  ] as const)('%s', async (_, version, more, names) => {
    const refusal = await applyUpgrade(world, 'wrong', version, more).then(
      () => null,
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(ApiError);
    expect(String(refusal)).toMatch(names);
    expect(await readUpgrade(world, 'wrong')).toBeNull();
  });
});

describe('what the cluster refuses', () => {
  it.each([
    ['in-place', '9.1.2', { strategy: 'InPlace' }, /strategy Surge/],
    ['older', '8.1.8', {}, /allowDowngrade/],
  ] as const)(
    '%s: it has failed with the reason, and the cluster is untouched',
    async (name, version, more, words) => {
      await applyUpgrade(world, name, version, more);
      const seen = await awaitUpgrade(world, name, 'Failed', ({ phase }) => phase === 'Failed');
      expect(seen.status?.errorMessage).toMatch(words);
      expect(seen.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
        status: 'False',
      });
      expect(await tagsOf(world)).toEqual(['9.0.0']);
    },
  );

  it('a cluster that does not exist is named in a condition', async () => {
    await applyUpgrade(world, 'nowhere', '9.1.2', { clusterRef: { name: 'nobody' } });
    await awaitUpgrade(world, 'nowhere', 'Accepted is False', ({ conditions }) =>
      (conditions ?? []).some(
        ({ type, status, message }) => type === 'Accepted' && status === 'False' && /nobody/.test(message),
      ),
    );
  });

  it('a changed target is refused', async () => {
    await applyUpgrade(world, 'fixed', '8.1.8');
    await expect(applyUpgrade(world, 'fixed', '9.1.2')).rejects.toThrow(/immutable/);
  });
});
