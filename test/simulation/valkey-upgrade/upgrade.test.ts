import { describe, expect, it } from 'vitest';
import { image, imagesOf, running } from './running.ts';

const SHARD = [
  'Pending',
  'UpgradingReplicas',
  'WaitingForSync',
  'FailingOver',
  'WaitingForClusterStable',
  'UpgradingOldMaster',
  'Completed',
];

describe('an upgrade', () => {
  it('goes through the phases and each shard through its states, and the spec then says the version', async () => {
    const { world, upgrade, ends } = await running();
    const done = upgrade('to-9.1.2', '9.1.2');
    await ends(done, 'Completed');
    expect(done.phases).toEqual(['PreChecks', 'InProgress', 'Completed']);
    expect([...done.shardStates.values()]).toEqual([SHARD, SHARD, SHARD]);
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.1.2']);
    expect(world.resource?.spec.image.tag).toBe('9.1.2');
    expect(world.pods).toHaveLength(6);
    expect(world.resource?.status['observedGeneration']).toBe(world.resource?.generation);
    expect(done.status?.shardStatuses[0]).toMatchObject({
      syncStartedAt: expect.stringMatching(/Z$/),
      podReadyStartedAt: expect.stringMatching(/Z$/),
      podReadyElapsedSeconds: expect.any(Number),
    });
  });

  it.each([
    ['in place with one replica', 1, { strategy: 'InPlace' }],
    ['in place with two replicas', 2, {}],
    ['with a surge where there is no replica', 0, {}],
    ['two shards at a time', 1, { maxUnavailableShards: 2 }],
    ['with time to look between the shards', 1, { bakeSeconds: 60 }],
  ] as const)('works %s', async (_, replicasPerMaster, more) => {
    const { world, upgrade, ends } = await running({ replicasPerMaster });
    await ends(upgrade('to-9.1.2', '9.1.2', more), 'Completed');
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.1.2']);
    expect(world.pods).toHaveLength(3 * (1 + replicasPerMaster));
    expect(world.resource?.status).toMatchObject({ readyMasters: 3, assignedSlots: '16384/16384' });
  });

  it('works twice in a row, when the roles have moved', async () => {
    const { world, upgrade, ends } = await running(image('8.1.8'));
    await ends(upgrade('first', '9.0.0', { strategy: 'InPlace' }), 'Completed');
    await ends(upgrade('second', '9.1.2', { strategy: 'InPlace' }), 'Completed');
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.1.2']);
  });

  it('has nothing to do where every node has the version already, and says so', async () => {
    const { upgrade, ends } = await running();
    const done = upgrade('same', '9.0.0');
    await ends(done, 'Completed');
    expect([...done.shardStates.values()]).toEqual([['Skipped'], ['Skipped'], ['Skipped']]);
  });

  it('rolls back from an image that does not exist, and leaves the spec as it was', async () => {
    const { world, upgrade, ends } = await running();
    const failed = upgrade('broken', '9.9.9', { podReadyTimeoutSeconds: 30 });
    await ends(failed, 'RolledBack');
    expect(failed.phases).toEqual(['PreChecks', 'InProgress', 'RollingBack', 'RolledBack']);
    // A state in which there is nothing to do may be over before it is written.
    const states = failed.shardStates.get(0) ?? [];
    expect(states.slice(0, 3)).toEqual(['Pending', 'UpgradingReplicas', 'Failed']);
    expect(states.slice(-2)).toEqual(['UpgradingOldMaster', 'Pending']);
    expect(failed.status?.errorMessage).toMatch(/9\.9\.9/);
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.0.0']);
    expect(world.pods).toHaveLength(6);
    expect(world.resource?.spec.image.tag).toBe('9.0.0');
  });

  it('stays where it is when it must not roll back, and another one goes on from there', async () => {
    const { world, upgrade, until, ends } = await running();
    const failed = upgrade('broken', '9.9.9', { podReadyTimeoutSeconds: 30, rollbackOnFailure: false });
    await until('it has failed', () => failed.status?.phase === 'Failed');
    expect(failed.status?.errorMessage).toMatch(/rollbackOnFailure is false/);
    await ends(upgrade('better', '9.1.2'), 'Completed');
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.1.2']);
  });

  it('is carried out whatever the worker suffers', async () => {
    const { world, engine, upgrade, ends } = await running({}, { seed: 'crashes' });
    engine.faults = { lostAnswer: 0.2, frozen: 0.1, slow: 0.1 };
    const done = upgrade('to-9.1.2', '9.1.2');
    for (let crash = 0; crash < 12; crash += 1) {
      await engine.until(() => false, 1700);
      await engine.crash(300);
    }
    await ends(done, 'Completed');
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.1.2']);
    expect(engine.journal.violations).toEqual([]);
  });

  it('sets the version of each shard: a pod that goes by itself comes back in that of its shard', async () => {
    const { world, engine, upgrade, until, ends } = await running();
    const done = upgrade('to-9.1.2', '9.1.2');
    await until('the second shard is begun', () => (done.shardStates.get(1)?.length ?? 0) > 1);
    for (const name of ['cache-0-0', 'cache-2-1']) {
      const pod = world.pods.find((one) => one.name === name);
      world.remove('Pod', name, pod?.uid ?? '', engine.agenda.nowMs);
    }
    const imageOf = (name: string) => world.pods.find((pod) => pod.name === name)?.image;
    expect(imageOf('cache-0-0')).toBe('valkey/valkey:9.1.2');
    expect(imageOf('cache-2-1')).toBe('valkey/valkey:9.0.0');
    await ends(done, 'Completed');
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.1.2']);
  });
});

describe('an upgrade and other wishes', () => {
  it('let a scale wait, with a condition that names the upgrade', async () => {
    const { world, hint, upgrade, until, ends } = await running();
    const first = upgrade('to-9.1.2', '9.1.2');
    await until('it is begun', () => (first.shardStates.get(0)?.length ?? 0) > 1);
    hint(world.apply({ ...image('9.0.0'), masters: 4 }));
    await until('the wish waits', () =>
      (world.resource?.conditions ?? []).some(
        ({ type, message }) => type === 'Waiting' && message.includes('to-9.1.2'),
      ),
    );
    await ends(first, 'Completed');
    await until('there are 4 masters', () => world.resource?.status['readyMasters'] === 4);
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.1.2']);
    expect(first.phases).toEqual(['PreChecks', 'InProgress', 'Completed']);
  });

  it('let an upgrade wait for a scale, with a condition that names it', async () => {
    const { world, hint, upgrade, until, ends } = await running();
    hint(world.apply({ ...image('9.0.0'), masters: 4 }));
    await until('it scales', () => world.resource?.status['currentOperation'] === 'scale-up');
    const later = upgrade('to-9.1.2', '9.1.2');
    await until('it says what it waits for', () =>
      later.conditions.some(({ message }) => message.includes('scale-up')),
    );
    await ends(later, 'Completed');
    expect(world.pods).toHaveLength(8);
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.1.2']);
  });

  it('begin with a changed tag as well', async () => {
    const { world, hint, until, settles } = await running();
    hint(world.apply(image('9.1.2')));
    await until('there is an upgrade for it', () => world.upgrades.all[0]?.status?.phase === 'Completed');
    await settles('Running');
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.1.2']);
    expect(world.resource?.generation).toBe(2);
  });

  it('hold the version when a changed tag can not be carried out, and say so', async () => {
    const { world, hint, until, settles } = await running();
    hint(world.apply(image('9.9.9')));
    await until('it is rolled back', () => world.upgrades.all[0]?.status?.phase === 'RolledBack');
    await settles('Running');
    await until('the cluster says so', () =>
      (world.resource?.conditions ?? []).some(({ type }) => type === 'VersionHeld'),
    );
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.0.0']);
    hint(world.apply({ ...image('9.9.9'), masters: 4 }));
    await until('there are 4 masters', () => world.resource?.status['readyMasters'] === 4);
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.0.0']);
    hint(world.apply({ ...image('9.1.2'), masters: 4 }));
    await until('a better tag is carried out', () => imagesOf(world).join() === 'valkey/valkey:9.1.2');
  });

  it('are one at a time', async () => {
    const { upgrade, until, ends } = await running();
    const first = upgrade('first', '9.1.2');
    await until('it is begun', () => (first.shardStates.get(0)?.length ?? 0) > 1);
    const second = upgrade('second', '9.1.2');
    await until('the second is refused', () => second.status?.phase === 'Failed');
    expect(second.status?.errorMessage).toMatch(/first/);
    await ends(first, 'Completed');
  });
});

describe('an upgrade that can never be carried out', () => {
  it.each([
    ['a version that is none', 'latest', {}, /is no version/],
    ['an older version', '8.1.8', {}, /allowDowngrade/],
    ['no replica in place', '9.1.2', { strategy: 'InPlace' }, /strategy Surge/],
    [
      'a cluster elsewhere',
      '9.1.2',
      { clusterRef: { name: 'cache', namespace: 'elsewhere' } },
      /in the namespace of its cluster/,
    ],
  ] as const)('is refused, and the cluster untouched: %s', async (_, version, more, words) => {
    const { world, upgrade, until } = await running({ replicasPerMaster: 0 });
    const pods = world.pods.map((pod) => pod.uid);
    const refused = upgrade('wrong', version, more);
    await until('it is refused', () => refused.status?.phase === 'Failed');
    expect(refused.status?.errorMessage).toMatch(words);
    expect(refused.conditions.find(({ type }) => type === 'Ready')?.message).toMatch(words);
    expect(world.pods.map((pod) => pod.uid)).toEqual(pods);
  });
});
