import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import type { EntityStatus } from '../../../workflows/shared/messages.ts';
import { nothingIsLeft } from '../../faults/operations/valkey-invariants.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';

/** Three pods: what is looked at here does not depend on replicas. */
const SMALL = { replicasPerMaster: 0, persistence: { size: '64Mi', retention: 'Delete' } } as const;

type Status = Pick<EntityStatus, 'operation' | 'waiting' | 'paused'>;

const pods = (world: ClusterWorld): Promise<unknown> =>
  world.until(async () => ((await world.list('pods')).length > 0 ? { found: true } : { missing: 'a pod' }));

describe('a creation', () => {
  let world: ClusterWorld;
  beforeAll(async () => {
    world = await ClusterWorld.create(await useStack());
    await world.applyWithSecret(SMALL);
  });
  afterAll(() => world.remove());

  const handle = async () => (await world.temporal()).workflow.getHandle(world.entityId);
  const status = async (): Promise<Status> => (await handle()).query<Status>('status');

  it('that is cancelled stays as it is until it is asked for again', async () => {
    await world.until(async () => {
      const { operation } = await status().catch(() => ({ operation: null }));
      return operation === null ? { missing: 'an operation' } : { found: true };
    });
    await (await handle()).executeUpdate('cancelOperation', { args: [{ reason: 'not now' }] });
    await world.until(async () => {
      const { waiting } = await status();
      return waiting?.on === 'cancelled'
        ? { found: true }
        : { missing: `a wait on the cancelled wish, not ${JSON.stringify(waiting)}` };
    });
    await (await handle()).executeUpdate('retry');
  });

  it('holds at the next safe point when it is paused, refuses in words, and goes on when it is resumed', async () => {
    const entity = await handle();
    await pods(world);
    await entity.executeUpdate('pause', { args: [{ reason: 'a test looks' }] });
    await expect(entity.executeUpdate('pause', { args: [{ reason: '' }] })).rejects.toThrow(
      'Workflow Update failed',
    );
    expect((await status()).paused).toEqual({ reason: 'a test looks' });
    await entity.executeUpdate('resume');
    await expect(entity.executeUpdate('resume')).rejects.toThrow('Workflow Update failed');
    await world.awaitPhase('Running');
    expect(await wrongWith(world, 3, 0)).toBeNull();
  });

  it('that is deleted in the middle leaves nothing behind', async () => {
    const other = await ClusterWorld.create(world.stack);
    await other.applyWithSecret(SMALL);
    await pods(other);
    await other.delete();
    await other.awaitGone();
    expect(await nothingIsLeft.broken(other)).toBeNull();
    await other.remove();
  });
});
