import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import { nothingIsLeft } from '../../faults/operations/valkey-invariants.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';

/** Three pods: what is looked at here does not depend on replicas. */
const SMALL = { replicasPerMaster: 0, persistence: { size: '64Mi', retention: 'Delete' } } as const;

describe('a creation under way', () => {
  let world: ClusterWorld;
  beforeAll(async () => {
    world = await ClusterWorld.create(await useStack());
  });
  afterAll(() => world.remove());

  it('holds at the next safe point when it is paused, refuses in words, and goes on when it is resumed', async () => {
    const handle = (await world.temporal()).workflow.getHandle(world.entityId);
    await world.applyWithSecret(SMALL);
    await world.until(async () =>
      (await world.list('pods')).length > 0 ? { found: true } : { missing: 'a pod' },
    );
    await handle.executeUpdate('pause', { args: [{ reason: 'a test looks' }] });
    await expect(handle.executeUpdate('pause', { args: [{ reason: '' }] })).rejects.toThrow(
      'Workflow Update failed',
    );
    const status = await handle.query<{ readonly paused: { readonly reason: string } | null }>('status');
    expect(status.paused).toEqual({ reason: 'a test looks' });
    await handle.executeUpdate('resume');
    await expect(handle.executeUpdate('resume')).rejects.toThrow('Workflow Update failed');
    await world.awaitPhase('Running');
    expect(await wrongWith(world, 3, 0)).toBeNull();
  });
});

describe('a creation that is deleted in the middle', () => {
  it('leaves nothing behind', async () => {
    const world = await ClusterWorld.create(await useStack());
    await world.applyWithSecret(SMALL);
    await world.until(async () =>
      (await world.list('pods')).length > 0 ? { found: true } : { missing: 'a pod' },
    );
    await world.delete();
    await world.awaitGone();
    expect(await nothingIsLeft.broken(world)).toBeNull();
    await world.remove();
  });
});

describe('a creation that is cancelled', () => {
  it('stays as it is until it is asked for again', async () => {
    const world = await ClusterWorld.create(await useStack());
    const handle = (await world.temporal()).workflow.getHandle(world.entityId);
    await world.applyWithSecret(SMALL);
    await world.until(async () => {
      const { operation } = await handle
        .query<{ readonly operation: object | null }>('status')
        .catch(() => ({ operation: null }));
      return operation === null ? { missing: 'an operation' } : { found: true };
    });
    await handle.executeUpdate('cancelOperation', { args: [{ reason: 'not now' }] });
    await world.until(async () => {
      const { waiting } = await handle.query<{ readonly waiting: { readonly on: string } | null }>('status');
      return waiting?.on === 'cancelled'
        ? { found: true }
        : { missing: `a wait on the cancelled wish, not ${JSON.stringify(waiting)}` };
    });
    await handle.executeUpdate('retry');
    await world.awaitPhase('Running');
    expect(await wrongWith(world, 3, 0)).toBeNull();
    await world.remove();
  });
});
