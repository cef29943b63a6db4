import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestStack, type StackHandle } from '../../../deploy/local/testing.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';

// A stack of its own: nobody else's test should lose its servers.
let stack: StackHandle & { stop(): Promise<void> };
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.stop());

it('neither the worker nor the trigger service dies with the API server, however often it does', async () => {
  const pids = (): readonly number[] => ['worker', 'starter'].map((part) => stack.part(part).process().pid);
  const before = pids();
  const worlds = [await ClusterWorld.create(stack), await ClusterWorld.create(stack)];
  for (const world of worlds)
    await world.applyWithSecret({ persistence: { size: '64Mi', retention: 'Delete' } });
  for (let death = 0; death < 5; death += 1) await stack.part('kube-apiserver').renew();
  for (const world of worlds) await world.awaitPhase('Running');
  expect(pids()).toEqual(before);
  for (const world of worlds) await world.remove();
});
