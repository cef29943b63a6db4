import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { tellServers, wrongWith } from '../../valkey/server-view.ts';
import { watchPhases } from './phase-watch.ts';

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
  const phases = watchPhases(world);
  await handle.executeUpdate('retry');
  await world.awaitPhase('Running');
  const seen = await phases.stop();
  expect(seen.slice(seen.indexOf('Failed')).slice(0, 2)).toEqual(['Failed', 'Pending']);
  expect(await wrongWith(world, 3, 1)).toBeNull();
}

/** Has the servers take this password only, whatever the Secret says. */
async function setPassword(password: string): Promise<void> {
  await tellServers(world, (client) => client.call('ACL', 'SETUSER', 'default', 'resetpass', `>${password}`));
  world.password = password;
}

describe('servers that refuse', () => {
  it('a command that the user has no right to are told of by that command', async () => {
    await tellServers(world, (client) => client.call('ACL', 'SETUSER', 'default', '-cluster|nodes'));
    await touch();
    expect(await awaitRefusal('ValkeyAcl')).toMatch(/CLUSTER NODES/i);
    await tellServers(world, (client) => client.call('ACL', 'SETUSER', 'default', '+@all'));
    await retry();
  });

  it('a password are told of without it, and all goes on once they take it', async () => {
    const ours = world.password;
    await setPassword('not-the-one');
    await touch();
    const message = await awaitRefusal('ValkeyAuth');
    expect(message).toMatch(/AUTH/);
    expect(message).not.toContain(ours);
    await setPassword(ours);
    await retry();
  });
});
