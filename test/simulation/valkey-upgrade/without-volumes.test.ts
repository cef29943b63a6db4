import { describe, expect, it } from 'vitest';
import { countSlots } from '../../../workflows/valkey-cluster/domain/slots.ts';
import { DEFAULT_SPEC } from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';
import { Random } from '../engine/random.ts';
import { ID } from '../valkey-cluster/stage.ts';
import type { ValkeyWorld, WorldPod } from '../valkey-cluster/world.ts';
import { image, imagesOf, running } from './running.ts';

const WITHOUT_VOLUMES = { persistence: { ...DEFAULT_SPEC.persistence, enabled: false } } as const;

const WAYS = [
  ['InPlace', 1],
  ['InPlace', 2],
  ['Surge', 0],
  ['Surge', 1],
] as const;

/** What is still served, or waits for an election: what is not, is lost with its data. */
const slotsOf = ({ servers, lost }: ValkeyWorld): number =>
  [...servers.values(), ...lost].reduce((sum, { slots }) => sum + countSlots(slots), 0);

/** All pods are members that know each other and nobody else, and every slot has kept its data. */
function expectWhole(world: ValkeyWorld, tag: string, replicas: number): void {
  expect(imagesOf(world)).toEqual([`valkey/valkey:${tag}`]);
  expect(world.pods).toHaveLength(3 * (1 + replicas));
  expect(slotsOf(world)).toBe(16_384);
  const ids = world.pods.map((pod) => world.server(pod.name).id).toSorted();
  for (const pod of world.pods) expect(world.server(pod.name).knows.toSorted()).toEqual(ids);
}

describe('a cluster whose pods have no volume', () => {
  it.each(WAYS)('is upgraded %s with %i replicas, and keeps its data', async (strategy, replicas) => {
    const { world, upgrade, ends } = await running({ ...WITHOUT_VOLUMES, replicasPerMaster: replicas });
    const done = upgrade('to-9.1.2', '9.1.2', { strategy });
    await ends(done, 'Completed');
    expect(done.phases).toEqual(['PreChecks', 'InProgress', 'Completed']);
    expectWhole(world, '9.1.2', replicas);
  });

  it.each(WAYS)('goes back %s with %i replicas when its upgrade is cancelled', async (strategy, replicas) => {
    const { world, engine, upgrade, until, ends } = await running({
      ...WITHOUT_VOLUMES,
      replicasPerMaster: replicas,
    });
    const given = upgrade('to-9.1.2', '9.1.2', { strategy });
    await until('the second shard hands over', () => given.shardStates.get(1)?.at(-1) === 'FailingOver');
    await engine.update(ID, 'cancelOperation', { reason: 'not today' });
    await ends(given, 'RolledBack');
    expectWhole(world, '9.0.0', replicas);
  });

  it.each([1, 2])('goes back from an image that does not exist, %i shards at a time', async (width) => {
    const { world, upgrade, ends } = await running(WITHOUT_VOLUMES);
    const more = { strategy: 'InPlace', podReadyTimeoutSeconds: 30, maxUnavailableShards: width } as const;
    await ends(upgrade('broken', '9.9.9', more), 'RolledBack');
    expectWhole(world, '9.0.0', 1);
  });

  it('is upgraded to a version whose data its own can not read', async () => {
    const { world, upgrade, ends } = await running({ ...WITHOUT_VOLUMES, ...image('8.1.8') });
    await ends(upgrade('to-9.1.2', '9.1.2', { strategy: 'InPlace' }), 'Completed');
    expectWhole(world, '9.1.2', 1);
  });

  it('goes back from there while there is a way back', async () => {
    const { world, engine, upgrade, until, ends } = await running({ ...WITHOUT_VOLUMES, ...image('8.1.8') });
    const given = upgrade('to-9.1.2', '9.1.2', { strategy: 'InPlace' });
    await until('the first shard hands over', () => given.shardStates.get(0)?.at(-1) === 'FailingOver');
    await engine.update(ID, 'cancelOperation', { reason: 'not today' });
    await ends(given, 'RolledBack');
    expectWhole(world, '8.1.8', 1);
  });

  it('goes on whatever the worker suffers', async () => {
    const { world, engine, upgrade, ends } = await running(WITHOUT_VOLUMES, { seed: 'no-volumes' });
    engine.faults = { lostAnswer: 0.2, frozen: 0.1, slow: 0.1 };
    const done = upgrade('to-9.1.2', '9.1.2', { maxUnavailableShards: 2 });
    for (let crash = 0; crash < 12; crash += 1) {
      await engine.until(() => false, 1700);
      await engine.crash(300);
    }
    await ends(done, 'Completed');
    expectWhole(world, '9.1.2', 1);
    expect(engine.journal.violations).toEqual([]);
  });
});

/**
 * Whether a pod may go by itself and nothing is lost. One more copy than that must be left, because the upgrade may have
 * looked already and be about to restart one of them.
 */
function isSpare(world: ValkeyWorld, pod: WorldPod): boolean {
  const { id, slots, masterId } = world.server(pod.name);
  const unelected = world.lost.some((member) => member.id === masterId && member.slots.length > 0);
  if (slots.length === 0 && !unelected) return true;
  const others = world.pods.filter((one) => one !== pod).map((one) => world.server(one.name));
  return others.filter((one) => one.masterId === (unelected ? masterId : id)).length > 1;
}

describe('a cluster without volumes that loses pods in the middle of its upgrade', () => {
  it('spares the replica that alone has the data, until it is elected', async () => {
    const { world, engine, hint, upgrade, until, ends } = await running(WITHOUT_VOLUMES);
    const done = upgrade('to-9.1.2', '9.1.2', { strategy: 'InPlace' });
    await until('the replica is about to go', () => world.sets[0]?.image === 'valkey/valkey:9.1.2');
    const lost = world.pods.find((pod) => pod.shard === 0 && world.server(pod.name).slots.length > 0);
    world.remove('Pod', lost?.name ?? '', lost?.uid ?? '', engine.agenda.nowMs);
    hint(world.hint());
    await ends(done, 'Completed');
    expectWhole(world, '9.1.2', 1);
  });

  it.each(['leads', 'follows'])('goes on when one that %s is lost in another shard', async (role) => {
    const { world, engine, hint, upgrade, until, ends } = await running(WITHOUT_VOLUMES);
    const done = upgrade('to-9.1.2', '9.1.2', { strategy: 'InPlace' });
    await until('the first shard is begun', () => (done.shardStates.get(0)?.length ?? 0) > 1);
    const lost = world.pods.find(
      (pod) => pod.shard === 2 && world.server(pod.name).slots.length > 0 === (role === 'leads'),
    );
    world.remove('Pod', lost?.name ?? '', lost?.uid ?? '', engine.agenda.nowMs);
    hint(world.hint());
    await ends(done, 'Completed');
    expectWhole(world, '9.1.2', 1);
  });

  it('forgets a member that is lost when no shard is left to do', async () => {
    const { world, engine, upgrade, until, ends } = await running(WITHOUT_VOLUMES);
    const done = upgrade('to-9.1.2', '9.1.2');
    await until('all shards are done', () =>
      [0, 1, 2].every((shard) => done.shardStates.get(shard)?.at(-1) === 'Completed'),
    );
    expect(done.status?.phase).toBe('InProgress');
    world.lost.push({ id: 'node-lost', slots: [], electsAtMs: engine.agenda.nowMs });
    for (const server of world.servers.values()) server.knows.push('node-lost');
    await ends(done, 'Completed');
    expectWhole(world, '9.1.2', 1);
  });

  it.each(Array.from({ length: 12 }, (_, at) => at))('walk %i ends whole', async (walk) => {
    const random = new Random(`without-volumes-${walk}`);
    const replicas = random.between(1, 2);
    const { world, engine, hint, upgrade, until } = await running(
      { ...WITHOUT_VOLUMES, replicasPerMaster: replicas },
      { seed: `without-volumes-${walk}` },
    );
    engine.faults = { lostAnswer: 0.1, frozen: 0.05, slow: 0.1 };
    const done = upgrade('to-9.1.2', '9.1.2', {
      strategy: random.pick(['InPlace', 'Surge']),
      maxUnavailableShards: random.between(1, 2),
    });
    for (let mishap = 0; mishap < 6; mishap += 1) {
      await engine.until(() => false, random.between(200, 8_000));
      const pod = world.pods[random.between(0, world.pods.length - 1)];
      if (pod !== undefined && isSpare(world, pod))
        world.remove('Pod', pod.name, pod.uid, engine.agenda.nowMs);
      else await engine.crash(random.between(100, 2_000));
      hint(world.hint());
    }
    engine.faults = { lostAnswer: 0, frozen: 0, slow: 0 };
    await until('it has ended', () => ['Completed', 'RolledBack'].includes(done.status?.phase ?? ''));
    await until('it is at peace', () => world.phases.at(-1) === 'Running' && world.strays().length === 0);
    expectWhole(world, done.status?.phase === 'Completed' ? '9.1.2' : '9.0.0', replicas);
    expect(engine.journal.violations).toEqual([]);
  });
});
