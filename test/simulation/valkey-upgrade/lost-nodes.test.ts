import { describe, expect, it } from 'vitest';
import { countSlots } from '../../../workflows/valkey-cluster/domain/slots.ts';
import { DEFAULT_SPEC } from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';
import { SHARD_STATES } from '../../../workflows/valkey-upgrade/domain/shard-states.ts';
import { ID, openStage } from '../valkey-cluster/stage.ts';
import type { ValkeyWorld, WorldPod } from '../valkey-cluster/world.ts';

const image = (tag: string) => ({ image: { ...DEFAULT_SPEC.image, tag } });

const slotsOf = (world: ValkeyWorld): number =>
  [...world.servers.values()].reduce((sum, server) => sum + countSlots(server.slots), 0);

/** A pod of the first shard that leads it, or one that follows. */
const podThat = (world: ValkeyWorld, role: 'leads' | 'follows'): WorldPod | undefined =>
  world.pods.find((pod) => {
    const leads = world.server(pod.name).slots.length > 0;
    return pod.shard === 0 && leads === (role === 'leads');
  });

const CASES = SHARD_STATES.flatMap((state) =>
  (['InPlace', 'Surge'] as const).flatMap((strategy) =>
    (['leads', 'follows'] as const).map((role) => [state, strategy, role] as const),
  ),
);

describe('a node that is lost in the middle of an upgrade', () => {
  it.each(CASES)('while its shard is %s, %s: the one that %s', async (state, strategy, role) => {
    const { world, engine, hint, settles, until } = openStage({ seed: `lost-${state}-${strategy}-${role}` });
    hint(world.apply(image('9.0.0')));
    await settles('Running');
    const spec = {
      clusterRef: { name: 'cache' },
      // A shard fails by itself only where its version is none that there is.
      targetVersion: state === 'Failed' ? '9.9.9' : '9.1.2',
      strategy,
      podReadyTimeoutSeconds: 30,
      ...(state === 'Skipped' ? { approval: 'EachShard' as const } : {}),
    };
    hint(world.upgrades.create('upgrade', spec, engine.agenda.nowMs));
    const [upgrade] = world.upgrades.all;
    if (upgrade === undefined) throw new Error('there is no upgrade');
    if (state === 'Skipped') await skipFirst();
    // Before its turn comes a shard may be shown in no state at all.
    const stateNow = (): string => upgrade.shardStates.get(0)?.at(-1) ?? 'Pending';
    await until(`the shard is ${state}`, () => upgrade.status !== null && stateNow() === state);

    const lost = podThat(world, role);
    expect(lost).toBeDefined();
    world.remove('Pod', lost?.name ?? '', lost?.uid ?? '', engine.agenda.nowMs);
    hint(world.hint());
    if (state === 'Skipped') await approveRest();

    const ends = state === 'Failed' ? 'RolledBack' : 'Completed';
    await until(`it is ${ends}`, () => upgrade.status?.phase === ends);
    await settles('Running');
    expect(slotsOf(world)).toBe(16_384);
    expect(world.pods).toHaveLength(6);
    const tagsOf = (shard: number) => [
      ...new Set(world.pods.filter((pod) => pod.shard === shard).map((pod) => pod.image.split(':')[1])),
    ];
    const [first, others] =
      state === 'Failed' ? ['9.0.0', '9.0.0'] : [state === 'Skipped' ? '9.0.0' : '9.1.2', '9.1.2'];
    expect([0, 1, 2].map(tagsOf)).toEqual([[first], [others], [others]]);
    expect(engine.journal.violations).toEqual([]);

    async function skipFirst(): Promise<void> {
      await until(
        'it asks',
        () => upgrade?.conditions.some(({ reason }) => reason === 'AwaitingApproval') === true,
      );
      const { operation } = engine.query(ID, 'status') as {
        readonly operation: { readonly workflowId: string };
      };
      engine.signal(operation.workflowId, 'news', { skip: { shard: 0, reason: 'its owner asks' } });
    }

    async function approveRest(): Promise<void> {
      const asks = (): boolean =>
        upgrade?.conditions.some(({ reason }) => reason === 'AwaitingApproval') === true;
      const isOver = (): boolean => upgrade?.status?.phase === 'Completed';
      for (;;) {
        await until('it asks or has ended', () => asks() || isOver());
        if (isOver()) return;
        const { hash } = engine.query(ID, 'plan') as { readonly hash: string };
        await engine.update(ID, 'approve', { hash, by: 'ann', reason: 'looked at it' });
        await engine.until(() => false, 1_000);
      }
    }
  });
});
