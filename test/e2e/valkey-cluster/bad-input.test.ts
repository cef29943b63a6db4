import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiError } from '../../../deploy/local/kubernetes/api.ts';
import { useStack } from '../../../deploy/local/testing.ts';
import { nothingIsLeft } from '../../faults/operations/valkey-invariants.ts';
import { ClusterWorld, type ClusterSeen } from '../../valkey/cluster-world.ts';

let world: ClusterWorld;
beforeAll(async () => {
  world = await ClusterWorld.create(await useStack());
});
afterAll(() => world.remove());

/** What the API server refuses, each with the field that its message must name. */
const REFUSED: readonly (readonly [why: string, spec: Readonly<Record<string, unknown>>, names: RegExp])[] = [
  ['fewer than 3 masters', { masters: 2 }, /spec\.masters/],
  ['more than 100 masters', { masters: 101 }, /spec\.masters/],
  ['more than 5 replicas', { replicasPerMaster: 6 }, /spec\.replicasPerMaster/],
  ['more than 500 nodes', { masters: 100, replicasPerMaster: 5 }, /masters|replicasPerMaster/],
  ['a size that is none', { persistence: { size: 'huge' } }, /spec\.persistence\.size/],
  ['a text where a number belongs', { masters: 'three' }, /spec\.masters/],
];

describe('what the API server refuses', () => {
  it.each(REFUSED)('%s', async (_, spec, names) => {
    const refusal = await world.apply(spec).then(
      () => null,
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(ApiError);
    expect(String(refusal)).toMatch(names);
    expect(await world.read()).toBeNull();
  });

  it('a name of more than 53 characters', async () => {
    const long = await ClusterWorld.create(world.stack, 'c'.repeat(54));
    await expect(long.apply({})).rejects.toThrow(/53/);
    await long.remove();
  });
});

describe('a cluster whose Secret is missing, of an image that does not exist', () => {
  const wish = (tag: string): Promise<ClusterSeen> =>
    world.apply({
      replicasPerMaster: 0,
      auth: { secretRef: { name: 'cache-auth' } },
      image: { tag },
      persistence: { size: '64Mi', retention: 'Delete' },
    });

  it('names the Secret in a condition, creates nothing, and goes on once it is there', async () => {
    await wish('9.9.9');
    const waiting = await world.until(async () => findCondition(await world.read(), /cache-auth/));
    expect(waiting.status).not.toBe('');
    expect(await nothingIsLeft.broken(world)).toBeNull();
    await world.createSecret();
    await world.until(async () =>
      (await world.list('pods')).length > 0 ? { found: true } : { missing: 'a pod' },
    );
  });

  it('waits for the image and says so, until a newer generation ends it', async () => {
    await world.until(async () =>
      JSON.stringify(await world.list('pods')).includes('ImagePull')
        ? { found: true }
        : { missing: 'a pod that cannot pull its image' },
    );
    await wish('9.1.2');
    await world.awaitPhase('Running');
  });
});

describe('a label that no node has', () => {
  it('holds the creation up with the numbers, and nothing is started', async () => {
    const nowhere = await ClusterWorld.create(world.stack, 'nowhere');
    await nowhere.applyWithSecret({ scheduling: { nodeSelector: { disk: 'none' } } });
    await nowhere.until(async () =>
      findCondition(await nowhere.read(), /of \d+ nodes none may take a pod.*disk=none/),
    );
    expect(await nothingIsLeft.broken(nowhere)).toBeNull();
    await nowhere.remove();
  });
});

describe('a workflow input that is wrong', () => {
  it.each([
    ['no reference', {}, /"ref"/],
    ['another id', { ref: { namespace: 'elsewhere', name: 'cache' } }, /start it under that id/],
  ])('%s is refused in words', async (_, input, words) => {
    const client = await world.temporal();
    const handle = await client.workflow.start('valkeyCluster', {
      workflowId: `valkey-cluster/${world.namespace}/bad-${_.replace(' ', '-')}`,
      taskQueue: 'keelson',
      args: [input],
    });
    const error = await handle.result().then(
      () => null,
      (failed: unknown) => failed,
    );
    expect(String((error as { cause?: unknown }).cause)).toMatch(words);
  });
});

type Found =
  | { readonly found: { readonly type: string; readonly status: string } }
  | { readonly missing: string };

function findCondition(seen: ClusterSeen | null, words: RegExp): Found {
  const found = seen?.status?.conditions?.find(({ message }) => words.test(message));
  return found === undefined
    ? { missing: `a condition about ${words.source}, it says ${JSON.stringify(seen?.status)}` }
    : { found };
}
