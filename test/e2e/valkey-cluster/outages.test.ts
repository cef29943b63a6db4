import { describe, expect, it } from 'vitest';
import { startTestStack } from '../../../deploy/local/testing.ts';
import { nothingIsLeft } from '../../faults/operations/valkey-invariants.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';

const KILLED = ['worker', 'starter', 'temporal', 'kube-apiserver'] as const;

describe('with parts of the machinery killed along the way', () => {
  it('a cluster forms and is deleted all the same', async () => {
    // A stack of its own: nobody else's test should lose its servers.
    const stack = await startTestStack();
    try {
      const world = await ClusterWorld.create(stack);
      await world.applyWithSecret({ persistence: { size: '64Mi', retention: 'Delete' } });
      for (const part of KILLED) {
        const before = stack.part(part).process();
        await stack.part(part).kill();
        await stack.part(part).awaitReady(before);
      }
      await world.awaitPhase('Running');
      expect(await wrongWith(world, 3, 1)).toBeNull();

      await world.delete();
      for (const part of KILLED) {
        const before = stack.part(part).process();
        await stack.part(part).kill();
        await stack.part(part).awaitReady(before);
      }
      await world.awaitGone();
      expect(await nothingIsLeft.broken(world)).toBeNull();
      await world.remove();
    } finally {
      await stack.stop();
    }
  });
});
