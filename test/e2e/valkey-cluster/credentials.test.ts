import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import { API_GROUP } from '../../../workflows/valkey-cluster/domain/names.ts';
import { Audit } from '../../valkey/audit.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { tellServers, wrongWith } from '../../valkey/server-view.ts';
import { readHistories } from './histories.ts';
import { awaitLogIn, logIn, podUids, WITHIN_SECONDS } from './log-ins.ts';
import { watchPhases } from './phase-watch.ts';

const OVERLAP_SECONDS = 4;

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
  const watch = watchPhases(world);
  await world.until(async () => (watch.phases.length > 0 ? { found: true } : { missing: 'the watch' }));
  await handle.executeUpdate('retry');
  await world.awaitPhase('Running');
  expect((await watch.stop()).slice(0, 2)).toEqual(['Failed', 'Pending']);
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

describe('a changed password', () => {
  beforeAll(() => world.annotate(`${API_GROUP}/password-overlap-seconds`, String(OVERLAP_SECONDS)));

  it('is taken by all servers beside the old one, then the old one is refused, and no write is lost', async () => {
    const old = world.password;
    const fresh = randomBytes(12).toString('hex');
    const uids = await podUids(world);
    const phases = watchPhases(world);
    const before = await Audit.start(world, { restMs: 5 });
    await world.writeSecret('cache-auth', { password: fresh });
    await awaitLogIn(world, 'default', fresh, /^OK$/);
    expect(await logIn(world, 'default', old)).toEqual(Array.from({ length: 6 }, () => 'OK'));
    world.password = fresh;
    const after = await Audit.start(world, { restMs: 5 });
    await awaitLogIn(world, 'default', old, /^WRONGPASS/);
    const reports = [await before.stop(), await after.stop()];
    console.log(JSON.stringify(reports));
    for (const report of reports) {
      expect(report).toMatchObject({ lost: [], wentBack: [] });
      expect(report.errors).toEqual({});
      expect(report.writes).toBeGreaterThan(100);
    }
    expect(await podUids(world)).toEqual(uids);
    expect(new Set(await phases.stop())).toEqual(new Set(['Running']));
    expect(await wrongWith(world, 3, 1)).toBeNull();
    const histories = await readHistories(world);
    expect(histories).toContain('AddPassword');
    for (const secret of [old, fresh])
      for (const text of [secret, Buffer.from(secret).toString('base64')])
        expect(histories.includes(text)).toBe(false);
  });

  it('is what a pod that starts anew has, and its replica or master finds it again', async () => {
    const [pod] = await world.list('pods');
    const path = `/api/v1/namespaces/${world.namespace}/pods/${pod?.metadata.name}`;
    await world.api.send('DELETE', path);
    await world.until(async () => {
      const wrong = await wrongWith(world, 3, 1).catch(String);
      return wrong === null && !(await podUids(world)).has(pod?.metadata.uid)
        ? { found: true }
        : { missing: wrong ?? 'another pod' };
    });
  });
});
