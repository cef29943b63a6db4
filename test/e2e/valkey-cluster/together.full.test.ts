import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';
import { underLoad } from '../../valkey/under-load.ts';

const BASE = {
  auth: { secretRef: { name: 'cache-auth' } },
  persistence: { size: '64Mi', retention: 'Delete' },
} as const;

describe('masters and replicas that change together', () => {
  let world: ClusterWorld;
  beforeAll(async () => {
    world = await ClusterWorld.create(await useStack());
    await world.applyWithSecret({ ...BASE, masters: 3, replicasPerMaster: 2 });
    await world.awaitPhase('Running');
  });
  afterAll(() => world.remove());

  it.each([
    ['more masters with fewer replicas', 4, 1],
    ['more of both', 5, 2],
    ['fewer of both', 3, 0],
  ])('%s', async (_, masters, replicasPerMaster) => {
    await underLoad(world, async () => {
      await world.apply({ ...BASE, masters, replicasPerMaster });
      await world.awaitPhase('Running');
    });
    expect(await wrongWith(world, masters, replicasPerMaster)).toBeNull();
  });
});
