import { describe, expect, it } from 'vitest';
import { HOUR_MS, ID } from '../valkey-cluster/stage.ts';
import type { ValkeyWorld } from '../valkey-cluster/world.ts';
import type { WorldUpgrade } from '../valkey-cluster/world-upgrades.ts';
import { approve, change, image, imagesOf, operationOf, running, swapRoles } from './running.ts';

const tagsByShard = (world: ValkeyWorld): readonly string[] =>
  [0, 1, 2].map((shard) =>
    [
      ...new Set(world.pods.filter((pod) => pod.shard === shard).map((pod) => pod.image.split(':')[1])),
    ].join(),
  );

const statesOf = ({ status }: WorldUpgrade): readonly string[] =>
  (status?.shardStatuses ?? []).map((one) => one.status);

const asksFor = (upgrade: WorldUpgrade, what: string) => (): boolean =>
  upgrade.conditions.some(({ message }) => message.includes(`waits for approval of ${what}:`));

const isAt = (upgrade: WorldUpgrade, shard: number) => (): boolean =>
  (upgrade.shardStates.get(shard)?.length ?? 0) > 1;

describe('a cancellation', () => {
  it('is carried out also when a shard fails in the same moment', async () => {
    const { world, engine, upgrade, until, ends } = await running();
    const cancelled = upgrade('to-9.1.2', '9.1.2');
    await until('the second shard is begun', isAt(cancelled, 1));
    const operation = operationOf(engine);
    swapRoles(world, 1);
    await until('the shard has failed', () => cancelled.status?.shardStatuses[1]?.error !== undefined);
    expect(operationOf(engine)).toBe(operation);
    await engine.update(ID, 'cancelOperation', { reason: 'not today' });
    await ends(cancelled, 'RolledBack');
    expect(cancelled.status?.errorMessage).toBe('cancelled: not today');
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.0.0']);
  });

  it.each([
    ['past the point of no return', '8.1.8', {}],
    ['where there must be no way back', '9.0.0', { rollbackOnFailure: false }],
  ] as const)('in the last shard leaves it as it is, %s, until another upgrade', async (_, from, more) => {
    const { world, engine, upgrade, until, ends } = await running(image(from));
    const cancelled = upgrade('to-9.1.2', '9.1.2', more);
    await until('the last shard is begun', isAt(cancelled, 2));
    await engine.until(() => false, 100);
    await engine.update(ID, 'cancelOperation', { reason: 'not today' });
    await until('it has failed', () => cancelled.status?.phase === 'Failed');
    await engine.until(() => false, HOUR_MS);
    expect(tagsByShard(world)).toEqual(['9.1.2', '9.1.2', from]);
    expect(world.pods).toHaveLength(6);
    expect(world.resource?.conditions.find(({ type }) => type === 'VersionHeld')?.message).toContain(
      `shard 2 on ${from} and 9.1.2`,
    );
    await ends(upgrade('rest', '9.1.2'), 'Completed');
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.1.2']);
    expect(world.resource?.spec.image.tag).toBe('9.1.2');
  });

  it('of a way back lets a newer upgrade hear why it is refused', async () => {
    const { engine, upgrade, until } = await running();
    const cancelled = upgrade('to-9.1.2', '9.1.2');
    await until('the second shard is begun', isAt(cancelled, 1));
    await engine.update(ID, 'cancelOperation', { reason: 'not today' });
    await until('it goes back', () => operationOf(engine)?.includes('/rollback/') === true);
    await engine.until(() => false, 500);
    await engine.update(ID, 'cancelOperation', { reason: 'not that either' });
    await until('it says so', () => /not that either/.test(cancelled.conditions[0]?.message ?? ''));
    const other = upgrade('other', '9.1.2');
    await until('the other is refused', () => other.status?.phase === 'Failed');
    expect(other.status?.errorMessage).toMatch(/to-9\.1\.2/);
  });
});

describe('a failure for good', () => {
  it('is followed by the way back at once, although it waits for a person itself', async () => {
    const { world, upgrade, ends } = await running();
    world.refused = /"cache-1".*9\.1\.2/;
    const failed = upgrade('to-9.1.2', '9.1.2');
    await ends(failed, 'RolledBack');
    expect(failed.status?.errorMessage).toMatch(/webhook/);
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.0.0']);
  });

  it('ends with the deletion of the cluster without a defect', async () => {
    const { world, hint, upgrade, until } = await running();
    const broken = upgrade('broken', '9.9.9');
    await until('it is begun', isAt(broken, 0));
    hint(world.delete());
    await until('all is gone', () => world.resource === null);
    expect(world.events.filter((event) => /defect/i.test(event))).toEqual([]);
  });
});

describe('a changed spec of the cluster', () => {
  it('that asks for more masters waits, also when the upgrade has to plan anew', async () => {
    const { world, hint, upgrade, until, ends } = await running();
    const first = upgrade('to-9.1.2', '9.1.2');
    await until('the second shard is begun', isAt(first, 1));
    hint(world.apply({ ...image('9.0.0'), masters: 4, replicasPerMaster: 2 }));
    swapRoles(world, 1);
    await ends(first, 'Completed');
    await until('there are 4 masters', () => world.resource?.status['readyMasters'] === 4);
    expect(world.pods).toHaveLength(12);
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.1.2']);
  });

  it('that asks for more masters waits for the upgrade of a changed tag', async () => {
    const { world, hint, until } = await running();
    hint(world.apply(image('9.1.2')));
    await until('it is begun', () => (world.upgrades.all[0]?.shardStates.get(0)?.length ?? 0) > 1);
    hint(world.apply({ ...image('9.1.2'), masters: 4 }));
    await until('there are 4 masters', () => world.resource?.status['readyMasters'] === 4);
    expect(world.upgrades.all.map(({ status }) => status?.phase)).toEqual(['Completed']);
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.1.2']);
  });

  it('that takes the tag back takes the upgrade back', async () => {
    const { world, hint, until, settles } = await running();
    hint(world.apply(image('9.1.2')));
    await until('it is begun', () => (world.upgrades.all[0]?.shardStates.get(1)?.length ?? 0) > 1);
    hint(world.apply(image('9.0.0')));
    await until('it is rolled back', () => world.upgrades.all[0]?.status?.phase === 'RolledBack');
    await settles('Running');
    expect(world.upgrades.all[0]?.status?.errorMessage).toBe('cancelled: spec.image.tag is 9.0.0 again');
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.0.0']);
  });

  it('leaves every shard its own version where they differ', async () => {
    const { world, engine, hint, upgrade, until, ends, settles } = await running(image('8.1.8'));
    const partly = upgrade('partly', '9.1.2');
    await until('it is begun', isAt(partly, 0));
    engine.signal(operationOf(engine) ?? '', 'news', { skip: { shard: 1, reason: 'its owner asks' } });
    await ends(partly, 'Completed');
    hint(world.apply({ ...image('8.1.8'), replicasPerMaster: 2 }));
    await until('there are 9 pods', () => world.pods.length === 9);
    await settles('Running');
    expect(tagsByShard(world)).toEqual(['9.1.2', '8.1.8', '9.1.2']);
    expect(world.sets.map((set) => set.image.split(':')[1])).toEqual(['9.1.2', '8.1.8', '9.1.2']);
  });
});

describe('an approval of each shard', () => {
  it('is for all that are asked for when two are disturbed at a time', async () => {
    const { engine, upgrade, until, ends } = await running();
    const asking = upgrade('to-9.1.2', '9.1.2', { approval: 'EachShard', maxUnavailableShards: 2 });
    await until('it asks for two', asksFor(asking, 'shards 0 and 1'));
    await approve(engine);
    await until('it asks for the last', asksFor(asking, 'shard 2'));
    const approvals = asking.status?.shardStatuses.map(({ approvedBy }) => approvedBy ?? null);
    expect(approvals).toEqual(['ann', 'ann', null]);
    await approve(engine);
    await ends(asking, 'Completed');
  });

  it('that two people give for the same shard is not for the next one', async () => {
    const { engine, upgrade, until } = await running();
    const asking = upgrade('to-9.1.2', '9.1.2', { approval: 'EachShard' });
    await until('it asks', asksFor(asking, 'shard 0'));
    await approve(engine, 'ann');
    await engine.until(() => false, 1_000);
    await approve(engine, 'bob');
    await until('it asks for the next', asksFor(asking, 'shard 1'));
    await engine.until(() => false, HOUR_MS);
    expect(statesOf(asking)).toEqual(['Completed', 'Pending', 'Pending']);
  });

  it('is waited for no longer when the shard beside it has failed', async () => {
    const { world, engine, upgrade, until, ends } = await running();
    const more = { maxUnavailableShards: 2, podReadyTimeoutSeconds: 30 };
    const failing = upgrade('broken', '9.9.9', { ...more, approval: 'EachShard' });
    await until('it asks', asksFor(failing, 'shards 0 and 1'));
    await approve(engine);
    await ends(failing, 'RolledBack');
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.0.0']);
  });
});

describe('a shard', () => {
  it('that is half done cannot be left out, whoever asks when', async () => {
    const { world, engine, hint, upgrade, until, ends } = await running();
    const troubled = upgrade('to-9.1.2', '9.1.2');
    await until('the second shard is begun', isAt(troubled, 1));
    await engine.until(() => false, 1_500);
    hint(change(troubled, { approval: 'EachShard' }));
    await until('it asks for it', asksFor(troubled, 'shard 1'));
    engine.signal(operationOf(engine) ?? '', 'news', { skip: { shard: 1, reason: 'its owner asks' } });
    await engine.until(() => false, 60_000);
    await approve(engine);
    await until('it asks for the last', asksFor(troubled, 'shard 2'));
    await approve(engine);
    await ends(troubled, 'Completed');
    expect(statesOf(troubled)).toEqual(['Completed', 'Completed', 'Completed']);
    expect(imagesOf(world)).toEqual(['valkey/valkey:9.1.2']);
  });

  it.each([-1, 3])('that does not exist cannot be left out: %i', async (shard) => {
    const { world, engine, upgrade, until, ends } = await running();
    const done = upgrade('to-9.1.2', '9.1.2');
    await until('it is begun', isAt(done, 0));
    engine.signal(operationOf(engine) ?? '', 'news', { skip: { shard, reason: 'nobody' } });
    await ends(done, 'Completed');
    expect(done.status).toMatchObject({ progress: '3/3', totalShards: 3 });
    expect(world.resource?.spec.image.tag).toBe('9.1.2');
  });

  it('that was left out is not counted with those that are done', async () => {
    const { engine, upgrade, until, ends } = await running();
    const partly = upgrade('partly', '9.1.2');
    await until('it is begun', isAt(partly, 0));
    engine.signal(operationOf(engine) ?? '', 'news', { skip: { shard: 1, reason: 'its owner asks' } });
    await ends(partly, 'Completed');
    expect(partly.status).toMatchObject({ progress: '2/3', upgradedShards: 2 });
  });
});

describe('what the status says', () => {
  it('of the way back stays true when the upgrade has to plan anew', async () => {
    const { world, engine, upgrade, until, ends } = await running(image('8.1.8'));
    const onward = upgrade('to-9.1.2', '9.1.2');
    await until('the second shard is begun', isAt(onward, 1));
    const first = operationOf(engine);
    swapRoles(world, 1);
    await until('it is planned anew', () => ![first, null].includes(operationOf(engine)));
    await until(
      'it says so',
      () => (onward.status as { rollbackPossibleUntil?: string } | null)?.rollbackPossibleUntil !== undefined,
    );
    expect(onward.status).toMatchObject({ rollbackPossibleUntil: expect.stringMatching(/^no longer: /) });
    await ends(onward, 'Completed');
  });

  it('of the last shard is what is watched from, when the time to watch is changed meanwhile', async () => {
    const { engine, hint, upgrade, until } = await running();
    const watched = upgrade('to-9.1.2', '9.1.2', { bakeSeconds: 600 });
    await until('it watches', () => /watched/.test(watched.conditions[0]?.message ?? ''));
    const sinceMs = engine.agenda.nowMs;
    await engine.until(() => false, 60_000);
    hint(change(watched, { bakeSeconds: 1_200 }));
    await until('the second shard is begun', isAt(watched, 1));
    expect(Math.round((engine.agenda.nowMs - sinceMs) / 60_000)).toBe(20);
  });
});
