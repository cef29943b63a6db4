import { describe, expect, it } from 'vitest';
import { DEFAULT_SPEC } from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';
import type { ValkeyUpgradeSpec } from '../../../workflows/valkey-upgrade/domain/resource.ts';
import { ID, openStage } from '../valkey-cluster/stage.ts';
import type { ValkeyWorld } from '../valkey-cluster/world.ts';
import type { WorldUpgrade } from '../valkey-cluster/world-upgrades.ts';

const image = (tag: string) => ({ image: { ...DEFAULT_SPEC.image, tag } });

const SHARD = [
  'Pending',
  'UpgradingReplicas',
  'WaitingForSync',
  'FailingOver',
  'WaitingForClusterStable',
  'UpgradingOldMaster',
  'Completed',
];

const imagesOf = (world: ValkeyWorld): readonly string[] => [...new Set(world.pods.map((pod) => pod.image))];

/** A cluster on 9.0.0 in peace, and words to upgrade it. */
async function running(spec: Parameters<ValkeyWorld['apply']>[0] = {}, options = {}) {
  const stage = openStage(options);
  const { world, engine, hint, settles, until } = stage;
  hint(world.apply({ ...image('9.0.0'), ...spec }));
  await settles('Running');
  const upgrade = (
    name: string,
    targetVersion: string,
    more: Partial<ValkeyUpgradeSpec> = {},
  ): WorldUpgrade => {
    hint(
      world.upgrades.create(
        name,
        { clusterRef: { name: 'cache' }, targetVersion, ...more },
        engine.agenda.nowMs,
      ),
    );
    const found = world.upgrades.all.find(({ resource }) => resource.name === name);
    if (found === undefined) throw new Error(`there is no upgrade ${name}`);
    return found;
  };
  const ends = async (of: WorldUpgrade, phase: string): Promise<void> => {
    await until(`${of.resource.name} is ${phase}`, () => of.status?.phase === phase);
    await settles('Running');
  };
  return { ...stage, upgrade, ends };
}

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

  it('comes back to where it was cancelled', async () => {
    const { world, engine, upgrade, until, ends } = await running();
    const cancelled = upgrade('to-9.1.2', '9.1.2');
    await until('the second shard is begun', () => (cancelled.shardStates.get(1)?.length ?? 0) > 1);
    await engine.update(ID, 'cancelOperation', { reason: 'not today' });
    await ends(cancelled, 'RolledBack');
    expect(cancelled.status?.errorMessage).toBe('cancelled: not today');
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.0.0']);
    expect(world.pods).toHaveLength(6);
  });

  it('holds at the next step when it is paused, and goes on when it is resumed', async () => {
    const { engine, upgrade, until, ends } = await running();
    const paused = upgrade('to-9.1.2', '9.1.2');
    await until('the first shard is begun', () => (paused.shardStates.get(0)?.length ?? 0) > 1);
    await engine.update(ID, 'pause', { reason: 'a look' });
    await engine.until(() => false, 10_000);
    const then = JSON.stringify(paused.status?.shardStatuses.map(({ status }) => status));
    await engine.until(() => false, 600_000);
    expect(JSON.stringify(paused.status?.shardStatuses.map(({ status }) => status))).toBe(then);
    await engine.update(ID, 'resume');
    await ends(paused, 'Completed');
  });

  it.each([
    ['BeforeFirstFailover', '9.0.0', 'FailingOver', 1],
    ['PointOfNoReturn', '8.1.8', 'UpgradingOldMaster', 1],
    ['EachShard', '9.0.0', 'Pending', 3],
  ] as const)('asks a person: %s', async (approval, from, state, times) => {
    const { engine, upgrade, until, ends } = await running(image(from));
    const asking = upgrade('to-9.1.2', '9.1.2', { approval });
    for (let at = 0; at < times; at += 1) {
      await until('it asks', () => asking.conditions.some(({ reason }) => reason === 'AwaitingApproval'));
      await engine.until(() => false, 600_000);
      expect(asking.status?.shardStatuses[at]?.status).toBe(state);
      const { hash } = engine.query(ID, 'plan') as { readonly hash: string };
      await engine.update(ID, 'approve', { hash, by: 'ann', reason: 'looked at it' });
      await until('it goes on', () => asking.conditions.every(({ reason }) => reason !== 'AwaitingApproval'));
    }
    await ends(asking, 'Completed');
  });

  it('asks once before the first failover, also when it has to plan anew after that', async () => {
    const { world, engine, upgrade, until, ends } = await running();
    const asking = upgrade('to-9.1.2', '9.1.2', { approval: 'BeforeFirstFailover' });
    await until('it asks', () => asking.conditions.some(({ reason }) => reason === 'AwaitingApproval'));
    const operationOf = () =>
      (engine.query(ID, 'status') as { readonly operation: { readonly workflowId: string } | null }).operation
        ?.workflowId;
    const first = operationOf();
    const { hash } = engine.query(ID, 'plan') as { readonly hash: string };
    await engine.update(ID, 'approve', { hash, by: 'ann', reason: 'looked at it' });
    await until('the second shard is begun', () => (asking.shardStates.get(1)?.length ?? 0) > 1);
    // The servers of the last shard change their roles by themselves, as after the loss of its master.
    const [one, other] = world.pods.filter((pod) => pod.shard === 2).map((pod) => world.server(pod.name));
    if (one === undefined || other === undefined) throw new Error('the last shard has two servers');
    const [master, heir] = one.slots.length > 0 ? [one, other] : [other, one];
    Object.assign(heir, { slots: master.slots, masterId: null });
    Object.assign(master, { slots: [], masterId: heir.id });
    const operations = new Set<string | undefined>();
    await until('it has ended', () => {
      operations.add(operationOf());
      return asking.status?.phase === 'Completed';
    });
    operations.delete(undefined);
    operations.delete(first);
    expect(operations.size).toBeGreaterThan(0);
    await ends(asking, 'Completed');
  });

  it('leaves a shard out that somebody wants left out, until another upgrade', async () => {
    const { world, engine, upgrade, until, ends, hint } = await running();
    const partly = upgrade('partly', '9.1.2');
    await until('it is begun', () => (partly.shardStates.get(0)?.length ?? 0) > 1);
    const { operation } = engine.query(ID, 'status') as {
      readonly operation: { readonly workflowId: string };
    };
    for (const shard of [0, 1])
      engine.signal(operation.workflowId, 'news', { skip: { shard, reason: 'its owner asks' } });
    await ends(partly, 'Completed');
    const states = partly.status?.shardStatuses.map(({ status }) => status);
    expect(states).toEqual(['Completed', 'Skipped', 'Completed']);
    expect(imagesOf(world)).toHaveLength(2);
    expect(world.resource?.spec.image.tag).toBe('9.0.0');
    hint(world.hint());
    await until('the cluster says so', () =>
      (world.resource?.conditions ?? []).some(({ reason }) => reason === 'VersionsDiffer'),
    );
    expect(imagesOf(world)).toHaveLength(2);
    await ends(upgrade('rest', '9.1.2'), 'Completed');
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.1.2']);
    expect(world.resource?.spec.image.tag).toBe('9.1.2');
  });

  it('brings the shard that it is at to its end when it is deleted, and the cluster says what it left', async () => {
    const { world, upgrade, until, ends, settles } = await running();
    const deleted = upgrade('to-9.1.2', '9.1.2');
    await until('the second shard is begun', () => (deleted.shardStates.get(1)?.length ?? 0) > 1);
    world.upgrades.delete('to-9.1.2');
    const told = () => world.resource?.conditions.find(({ reason }) => reason === 'VersionsDiffer');
    await until('the cluster says so', () => told() !== undefined);
    expect(told()?.message).toBe(
      'not all shards run the same version (shard 2 on 9.0.0, shards 0 and 1 on 9.1.2): create a ValkeyUpgrade with targetVersion 9.1.2 to bring them together',
    );
    await settles('Running');
    const tagsOf = (shard: number) => [
      ...new Set(world.pods.filter((pod) => pod.shard === shard).map((pod) => pod.image.split(':')[1])),
    ];
    expect([0, 1, 2].map(tagsOf)).toEqual([['9.1.2'], ['9.1.2'], ['9.0.0']]);
    expect(world.pods).toHaveLength(6);
    expect(world.resource?.spec.image.tag).toBe('9.0.0');
    await ends(upgrade('rest', '9.1.2'), 'Completed');
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.1.2']);
  });

  it('is complete when it is deleted in its last shard', async () => {
    const { world, upgrade, until, settles } = await running();
    const deleted = upgrade('to-9.1.2', '9.1.2');
    await until('the last shard is begun', () => (deleted.shardStates.get(2)?.length ?? 0) > 1);
    world.upgrades.delete('to-9.1.2');
    await until('the spec says the version', () => world.resource?.spec.image.tag === '9.1.2');
    await settles('Running');
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.1.2']);
  });

  it('ends when its cluster is deleted', async () => {
    const { world, hint, upgrade, until } = await running();
    const left = upgrade('broken', '9.9.9');
    await until('it is begun', () => (left.shardStates.get(0)?.length ?? 0) > 1);
    hint(world.delete());
    await until('the cluster is gone', () => world.resource === null);
    expect(world.pods).toEqual([]);
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
