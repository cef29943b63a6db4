import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ValkeyAccess, ValkeyServer } from '../../../activities/valkey/contract.ts';
import type { ServerOptions, ValkeyStage } from './stage.ts';

const OLD = 'correct-horse';
const NEW = 'battery "staple" \\ 1';

/** What a change of passwords and users must do to servers that run. */
export function rotationSuite(open: () => Promise<ValkeyStage>): void {
  let stage: ValkeyStage;
  let servers: readonly ValkeyServer[];
  beforeEach(async () => {
    stage = await open();
    stage.writeSecret('auth', { password: OLD });
  });
  afterEach(() => stage.close());

  const accessFor = (user = 'default', acl?: { secret: string; key: string }): ValkeyAccess => {
    const { namespace, cluster, tls } = stage.access();
    const auth = {
      secret: 'auth',
      key: 'password',
      user,
      kept: 'kept',
      ...(acl === undefined ? {} : { acl }),
    };
    return { namespace, cluster, tls, auth };
  };
  const inputFor = (access: ValkeyAccess) => ({ access, owner: stage.owner, servers });
  const start = async (options: ServerOptions = { password: OLD }): Promise<void> => {
    servers = await stage.start(2, options);
    await stage.activities.addValkeyPassword({ ...inputFor(accessFor()), servers: [] });
  };
  const logIns = (password: string, user = 'default') =>
    Promise.all(servers.map((server) => stage.logIn(server, user, password)));
  const refused = [expect.stringMatching(/^WRONGPASS/), expect.stringMatching(/^WRONGPASS/)];

  describe('a changed password', () => {
    beforeEach(() => start());

    test('is taken beside the old one, and then alone; each twice', async () => {
      stage.writeSecret('auth', { password: NEW });
      expect(await logIns(NEW)).toEqual(refused);
      for (const _ of [1, 2]) {
        expect(await stage.activities.addValkeyPassword(inputFor(accessFor()))).toEqual({ servers: 2 });
        expect(await logIns(NEW)).toEqual([null, null]);
        expect(await logIns(OLD)).toEqual([null, null]);
      }
      for (const server of servers)
        expect(await stage.command(server, 'CONFIG', 'GET', 'masterauth')).toBe(`masterauth,${NEW}`);
      expect(await stage.activities.dropValkeyPasswords(inputFor(accessFor()))).toEqual({ dropped: 1 });
      expect(await stage.activities.dropValkeyPasswords(inputFor(accessFor()))).toEqual({ dropped: 0 });
      expect(await logIns(NEW)).toEqual([null, null]);
      expect(await logIns(OLD)).toEqual(refused);
    });

    test('does not keep any other work from reaching servers that lack it', async () => {
      stage.writeSecret('auth', { password: NEW });
      const { nodeIds } = await stage.activities.meetValkeyNodes({ access: accessFor(), servers });
      expect(Object.keys(nodeIds)).toHaveLength(2);
    });

    test('goes on where a crash left it: kept, and one server given it', async () => {
      stage.writeSecret('auth', { password: NEW });
      const [first] = servers;
      await stage.activities.addValkeyPassword({
        ...inputFor(accessFor()),
        servers: first === undefined ? [] : [first],
      });
      expect(await logIns(NEW)).toEqual([null, refused[1]]);
      await expect(stage.activities.dropValkeyPasswords(inputFor(accessFor()))).rejects.toMatchObject({
        type: 'ValkeyAuth',
      });
      expect(await logIns(OLD)).toEqual([null, null]);
      await stage.activities.addValkeyPassword(inputFor(accessFor()));
      expect(await logIns(NEW)).toEqual([null, null]);
    });

    test('lets replicas follow their masters from then on', async () => {
      const access = accessFor();
      const [master, replica] = servers;
      if (master === undefined || replica === undefined) throw new Error('two were started');
      const { nodeIds } = await stage.activities.meetValkeyNodes({ access, servers });
      stage.writeSecret('auth', { password: NEW });
      await stage.activities.addValkeyPassword(inputFor(access));
      await stage.activities.dropValkeyPasswords(inputFor(access));
      const masterId = nodeIds[master.pod] ?? '';
      expect(await stage.activities.attachValkeyReplica({ access, server: replica, masterId })).toMatchObject(
        { linkSeconds: expect.any(Number) },
      );
    });
  });

  describe('changed users', () => {
    const acl = { secret: 'acl', key: 'users' };
    const admin = `user admin on >${OLD} ~* &* +@all`;

    beforeEach(async () => {
      await start({ settings: [['user', `admin on >${OLD} ~* &* +@all`]] });
      stage.writeSecret('acl', { users: `${admin}\nuser reader on >first ~* +get\n` });
    });

    test('are set on running servers, and those that are gone from the Secret are removed', async () => {
      const access = accessFor('admin', acl);
      expect(await stage.activities.applyValkeyAcl(inputFor(access))).toEqual({ users: 2, removed: 0 });
      expect(await logIns('first', 'reader')).toEqual([null, null]);
      stage.writeSecret('acl', { users: `${admin}\nuser writer on >second ~a* +set\n` });
      expect(await stage.activities.applyValkeyAcl(inputFor(access))).toEqual({ users: 2, removed: 1 });
      expect(await logIns('first', 'reader')).toEqual(refused);
      expect(await logIns('second', 'writer')).toEqual([null, null]);
    });

    test('that would lock us out are refused, and no password stands in the refusal', async () => {
      stage.writeSecret('acl', { users: 'user admin on >open-sesame +@all\n' });
      const failed: unknown = await stage.activities
        .applyValkeyAcl(inputFor(accessFor('admin', acl)))
        .catch((error: unknown) => error);
      expect(failed).toMatchObject({ type: 'ValkeyAcl', nonRetryable: true });
      expect(String(failed)).not.toMatch(/sesame|correct-horse/);
      expect(await logIns(OLD, 'admin')).toEqual([null, null]);
    });

    test('with a rule that the server does not know are refused by that rule, a password never', async () => {
      const apply = (rule: string) => {
        stage.writeSecret('acl', { users: `${admin}\nuser bad on ${rule}\n` });
        return stage.activities.applyValkeyAcl(inputFor(accessFor('admin', acl))).catch(String);
      };
      expect(await apply('+@nonsense')).toContain('+@nonsense');
      expect(await apply('#not-a-hash')).not.toContain('not-a-hash');
    });
  });
}
