import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { tellServers, wrongWith } from '../../valkey/server-view.ts';

const WITHIN_SECONDS = 60;

let world: ClusterWorld;
beforeAll(async () => {
  world = await ClusterWorld.create(await useStack());
  await world.applyWithSecret({ persistence: { size: '64Mi', retention: 'Delete' } });
  await world.awaitPhase('Running');
});
afterAll(() => world.remove());

/** Something that the trigger service tells of without being a new wish. */
const touch = (): Promise<unknown> => world.annotate('test/look', String(Date.now()));

/** Waits for the condition that says why, and that the phase is Failed. */
const awaitRefusal = (reason: string): Promise<string> =>
  world.until(async () => {
    const { phase, conditions = [] } = (await world.read())?.status ?? {};
    const ready = conditions.find(({ type }) => type === 'Ready');
    return phase === 'Failed' && ready?.reason === reason
      ? { found: ready.message }
      : { missing: `${reason}, not ${phase ?? ''}: ${JSON.stringify(ready)}` };
  }, WITHIN_SECONDS);

/** Tries again as a person does: the failed phase is left, and nothing has changed behind it. */
async function retry(): Promise<void> {
  const handle = (await world.temporal()).workflow.getHandle(world.entityId);
  await handle.executeUpdate('retry');
  await world.awaitPhase('Running');
  expect(await wrongWith(world, 3, 1)).toBeNull();
}

const writeSecret = (password: string): Promise<unknown> =>
  world.api.send(
    'PATCH',
    `/api/v1/namespaces/${world.namespace}/secrets/cache-auth`,
    { stringData: { password } },
    'application/merge-patch+json',
  );

describe('servers that refuse', () => {
  it('a command that the user has no right to are told of by that command', async () => {
    await tellServers(world, (client) => client.call('ACL', 'SETUSER', 'default', '-cluster|nodes'));
    await touch();
    expect(await awaitRefusal('ValkeyAcl')).toMatch(/CLUSTER NODES/i);
    await tellServers(world, (client) => client.call('ACL', 'SETUSER', 'default', '+@all'));
    await retry();
  });

  it('a password are told of without it, and all goes on once the Secret is right', async () => {
    await writeSecret('not-the-one');
    await touch();
    const message = await awaitRefusal('ValkeyAuth');
    expect(message).toMatch(/AUTH/);
    expect(message).not.toMatch(/not-the-one/);
    await writeSecret(world.password);
    await retry();
  });
});
