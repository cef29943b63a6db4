import { afterAll, beforeAll, expect, it } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import type { EntityStatus } from '../../../workflows/shared/messages.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { viewServers, wrongWith } from '../../valkey/server-view.ts';
import { awaitMove, slowMoves } from '../../valkey/slow-moves.ts';
import { underLoad } from '../../valkey/under-load.ts';
import { watchPhases } from './phase-watch.ts';

/** A few seconds for what a scale-up moves of what the writers have written by then. */
const SLOW_US = 20_000;

/** What becomes of a cluster with so many replicas of each master that is written to while people change their minds. */
export function describeChangesOfMind(replicasPerMaster: number): void {
  const BASE = {
    replicasPerMaster,
    auth: { secretRef: { name: 'cache-auth' } },
    persistence: { size: '64Mi', retention: 'Delete' },
  } as const;
  const before = `back to 3 masters with ${replicasPerMaster} replica${replicasPerMaster === 1 ? '' : 's'} each`;

  let world: ClusterWorld;
  beforeAll(async () => {
    world = await ClusterWorld.create(await useStack());
    await world.applyWithSecret(BASE);
    await world.awaitPhase('Running');
  });
  afterAll(() => world.remove());

  const status = async (): Promise<EntityStatus> =>
    (await world.temporal()).workflow.getHandle(world.entityId).query<EntityStatus>('status');

  const sharesOf = async (): Promise<readonly number[]> => {
    const [first] = await viewServers(world);
    return Object.values(first?.owners ?? {}).toSorted((a, b) => a - b);
  };

  it('goes back to 3 masters when the scale-up to 4 is cancelled while slots move, and says so', async () => {
    await underLoad(world, async () => {
      await slowMoves(world, SLOW_US);
      await world.apply({ ...BASE, masters: 4 });
      await awaitMove(world);
      const handle = (await world.temporal()).workflow.getHandle(world.entityId);
      await handle.executeUpdate('cancelOperation', { args: [{ reason: 'too early' }] });
      const ended = await world.until(async () => {
        const { waiting, last } = await status();
        return waiting?.on === 'cancelled' ? { found: last } : { missing: `the end, not ${waiting?.on}` };
      });
      expect(ended).toMatchObject({
        operation: 'scale-up',
        outcome: 'cancelled',
        facts: { undone: before },
      });
    });
    expect(await wrongWith(world, 3, replicasPerMaster)).toBeNull();
    expect(await sharesOf()).toEqual([5461, 5461, 5462]);
    const seen = await world.read();
    expect(seen?.status?.phase).toBe('Running');
    const progressing = seen?.status?.conditions?.find(({ type }) => type === 'Progressing');
    expect(progressing).toMatchObject({ status: 'False', reason: 'OperationCancelled' });
    expect(progressing?.message).toMatch(new RegExp(`too early.*${before}`));
  });

  it('ends at 6 masters when 5, then 4, then 6 are wished while slots move', async () => {
    const watch = watchPhases(world);
    await underLoad(world, async () => {
      for (const masters of [5, 4, 6]) {
        await world.apply({ ...BASE, masters });
        await slowMoves(world, masters === 6 ? 0 : SLOW_US);
        if (masters !== 6) await awaitMove(world);
      }
      await world.awaitPhase('Running');
    });
    expect(await watch.stop()).not.toContain('Failed');
    expect(await wrongWith(world, 6, replicasPerMaster)).toBeNull();
    expect(await sharesOf()).toEqual([2730, 2730, 2731, 2731, 2731, 2731]);
  });

  it('takes masters away and adds replicas in one generation', async () => {
    await underLoad(world, async () => {
      await world.apply({ ...BASE, masters: 3, replicasPerMaster: replicasPerMaster + 1 });
      await world.awaitPhase('Running');
    });
    expect(await wrongWith(world, 3, replicasPerMaster + 1)).toBeNull();
    expect(await sharesOf()).toEqual([5461, 5461, 5462]);
  });
}
