import { afterAll, beforeAll, expect, it } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';
import { awaitLogIn, podUids, WITHIN_SECONDS } from './log-ins.ts';

let world: ClusterWorld;
const admin = (): string => `user default on >${world.password} ~* &* +@all`;

beforeAll(async () => {
  world = await ClusterWorld.create(await useStack());
  await world.api.send('POST', `/api/v1/namespaces/${world.namespace}/secrets`, {
    metadata: { name: 'cache-acl' },
    stringData: { users: `${admin()}\nuser reader on >first ~* +get +ping\n` },
  });
  await world.applyWithSecret({
    auth: {
      secretRef: { name: 'cache-auth' },
      acl: { enabled: true, configSecretRef: { name: 'cache-acl', key: 'users' } },
    },
    persistence: { size: '64Mi', retention: 'Delete' },
  });
  await world.awaitPhase('Running');
});
afterAll(() => world.remove());

it('users of a changed ACL Secret are there on all servers without a restart, and those that it has no more are gone', async () => {
  expect(await wrongWith(world, 3, 1)).toBeNull();
  await awaitLogIn(world, 'reader', 'first', /^OK$/);
  const before = await podUids(world);
  await world.writeSecret('cache-acl', { users: `${admin()}\nuser writer on >second ~* +set\n` });
  await awaitLogIn(world, 'writer', 'second', /^OK$/);
  await awaitLogIn(world, 'reader', 'first', /^WRONGPASS/);
  expect(await podUids(world)).toEqual(before);
});

it('users that would lock us out are refused in words, and the servers keep those that they have', async () => {
  await world.writeSecret('cache-acl', { users: 'user default on >open-sesame ~* &* +@all\n' });
  const message = await world.until(async () => {
    const ready = (await world.read())?.status?.conditions?.find(({ type }) => type === 'Ready');
    return ready?.reason === 'ValkeyAcl' ? { found: ready.message } : { missing: `not ${ready?.reason}` };
  }, WITHIN_SECONDS);
  expect(message).toContain('does not give user default the password');
  expect(message).not.toContain('sesame');
  await awaitLogIn(world, 'writer', 'second', /^OK$/);
  await world.writeSecret('cache-acl', { users: `${admin()}\n` });
  await (await world.temporal()).workflow.getHandle(world.entityId).executeUpdate('retry');
  await awaitLogIn(world, 'writer', 'second', /^WRONGPASS/);
  await world.awaitPhase('Running');
});
