import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestStack, type StackHandle } from '../../../deploy/local/testing.ts';
import { nothingIsLeft } from '../../faults/operations/valkey-invariants.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';

const KILLED = ['worker', 'starter', 'temporal', 'kube-apiserver'] as const;
const SMALL = { persistence: { size: '64Mi', retention: 'Delete' } } as const;

// A stack of its own: nobody else's test should lose its servers.
let stack: StackHandle & { stop(): Promise<void> };
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.stop());

describe('with parts of the machinery killed along the way', () => {
  it('a cluster forms and is deleted all the same', async () => {
    const world = await ClusterWorld.create(stack);
    await world.applyWithSecret(SMALL);
    for (const part of KILLED) await stack.part(part).renew();
    await world.awaitPhase('Running');
    expect(await wrongWith(world, 3, 1)).toBeNull();

    await world.delete();
    for (const part of KILLED) await stack.part(part).renew();
    await world.awaitGone();
    expect(await nothingIsLeft.broken(world)).toBeNull();
    await world.remove();
  });
});
