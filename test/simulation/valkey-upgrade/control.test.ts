import { describe, expect, it } from 'vitest';
import { ID } from '../valkey-cluster/stage.ts';
import { image, imagesOf, operationOf, running, swapRoles } from './running.ts';

describe('an upgrade in the hands of people', () => {
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

  it('says that it is paused, why and how to go on, as long as it is', async () => {
    const { engine, upgrade, until, ends } = await running();
    const said = (of: typeof paused) => ({
      reasons: of.conditions.flatMap(({ type, reason }) => (type === 'Progressing' ? reason : [])),
      message: (of.status as { readonly message?: string } | null)?.message,
    });
    await engine.update(ID, 'pause', { reason: 'not yet' });
    const paused = upgrade('to-9.1.2', '9.1.2');
    await until('it is seen', () => paused.status !== null);
    const words = (why: string) => `paused: ${why}; to go on: keelson resume valkey-cluster/default/cache`;
    expect(said(paused)).toEqual({ reasons: ['Paused'], message: words('not yet') });
    await engine.update(ID, 'resume');
    await until('the first shard is begun', () => (paused.shardStates.get(0)?.length ?? 0) > 1);
    expect(said(paused)).toEqual({ reasons: ['InProgress'], message: '' });
    await engine.update(ID, 'pause', { reason: 'a look' });
    await engine.until(() => false, 600_000);
    expect(paused.status?.phase).toBe('InProgress');
    expect(said(paused)).toEqual({ reasons: ['Paused'], message: words('a look') });
    await engine.update(ID, 'resume');
    await until('it goes on', () => said(paused).reasons[0] === 'InProgress');
    expect(said(paused).message).toBe('');
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

  it.each([
    ['BeforeFirstFailover', '9.0.0', 1],
    ['PointOfNoReturn', '8.1.8', 1],
    ['EachShard', '9.0.0', 3],
  ] as const)('asks no more often when it has to plan anew: %s', async (approval, from, times) => {
    const { world, engine, upgrade, ends } = await running(image(from));
    const asking = upgrade('to-9.1.2', '9.1.2', { approval });
    const operations = new Set<string | null>();
    let asked = 0;
    let swapped = false;
    while (asking.status?.phase !== 'Completed') {
      await engine.until(() => false, 100);
      operations.add(operationOf(engine));
      if (!swapped && (asking.shardStates.get(2)?.length ?? 0) > 1) swapRoles(world, 2);
      swapped ||= (asking.shardStates.get(2)?.length ?? 0) > 1;
      if (asking.conditions.every(({ reason }) => reason !== 'AwaitingApproval')) continue;
      asked += 1;
      const { hash } = engine.query(ID, 'plan') as { readonly hash: string };
      await engine.update(ID, 'approve', { hash, by: 'ann', reason: 'looked at it' });
      await engine.until(
        () => asking.conditions.every(({ reason }) => reason !== 'AwaitingApproval'),
        60_000,
      );
    }
    operations.delete(null);
    expect(operations.size).toBeGreaterThan(1);
    expect(asked).toBe(times);
    expect(asking.status?.shardStatuses.map(({ approvedBy }) => approvedBy)).toEqual(['ann', 'ann', 'ann']);
    await ends(asking, 'Completed');
  });

  it('takes an agreement that was given while it was paused, before anything ran', async () => {
    const { engine, upgrade, until, ends } = await running();
    await engine.update(ID, 'pause', { reason: 'later' });
    const asking = upgrade('to-9.1.2', '9.1.2', { approval: 'EachShard' });
    await until('it is planned', () => asking.conditions.some(({ message }) => message.includes('later')));
    const approve = async (): Promise<string> => {
      const { hash } = engine.query(ID, 'plan') as { readonly hash: string };
      return engine.update(ID, 'approve', { hash, by: 'ann', reason: 'looked at it' });
    };
    expect(await approve()).toBe('upgrade is approved by ann');
    await engine.update(ID, 'resume');
    const asks = (shard: number) => () =>
      asking.conditions.some(({ message }) => message.includes(`waits for approval of shard ${shard}`));
    // It was for the first shard; the others are asked for as ever.
    for (const shard of [1, 2]) {
      await until(`it asks for shard ${shard}`, asks(shard));
      expect(asking.status?.shardStatuses.map(({ approvedBy }) => approvedBy !== undefined)).toEqual(
        [0, 1, 2].map((one) => one < shard),
      );
      await approve();
    }
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

  it('leaves it out also when it has to plan anew after that', async () => {
    const { world, engine, upgrade, until, ends } = await running();
    const partly = upgrade('partly', '9.1.2');
    await until('it is begun', () => (partly.shardStates.get(0)?.length ?? 0) > 1);
    const first = operationOf(engine) ?? '';
    engine.signal(first, 'news', { skip: { shard: 1, reason: 'its owner asks' } });
    await until('the last shard is begun', () => (partly.shardStates.get(2)?.length ?? 0) > 1);
    swapRoles(world, 2);
    await until('it is planned anew', () => ![first, null].includes(operationOf(engine)));
    await ends(partly, 'Completed');
    const states = partly.status?.shardStatuses.map(({ status }) => status);
    expect(states).toEqual(['Completed', 'Skipped', 'Completed']);
    expect(world.resource?.spec.image.tag).toBe('9.0.0');
  });

  it('begins the next shard when the one that is asked for is left out', async () => {
    const { engine, upgrade, until, ends } = await running();
    const partly = upgrade('partly', '9.1.2', { approval: 'EachShard' });
    const asks = (shard: number) => () =>
      partly.conditions.some(({ message }) => message.includes(`waits for approval of shard ${shard}`));
    await until('it asks for the first', asks(0));
    engine.signal(operationOf(engine) ?? '', 'news', { skip: { shard: 0, reason: 'its owner asks' } });
    for (const shard of [1, 2]) {
      await until(`it asks for shard ${shard}`, asks(shard));
      const { hash } = engine.query(ID, 'plan') as { readonly hash: string };
      await engine.update(ID, 'approve', { hash, by: 'ann', reason: 'looked at it' });
    }
    await ends(partly, 'Completed');
    const states = partly.status?.shardStatuses.map(({ status }) => status);
    expect(states).toEqual(['Skipped', 'Completed', 'Completed']);
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
