import { failure } from '../../workflows/shared/failures.ts';
import {
  readCredentials,
  readLogIn,
  readSecret,
  secretValue,
  withMembers,
  type Member,
  type ValkeyClients,
} from './access.ts';
import type { Credentials } from './client.ts';
import type { ValkeyAccess, ValkeyActivities } from './contract.ts';
import { ValkeyError } from './errors.ts';
import { digestOf, writeKept } from './kept-passwords.ts';

type Input = Parameters<ValkeyActivities['addValkeyPassword']>[0];

/** Keeps the wanted password before any server is given it, so that no crash leaves one that nobody knows. */
export async function addPassword(
  clients: ValkeyClients,
  { access, owner, servers }: Input,
): Promise<{ readonly servers: number }> {
  const { kubernetes } = clients;
  const { credentials, kept: before } = await readLogIn(kubernetes, access);
  const { password } = credentials;
  if (password === null) return { servers: 0 };
  const passwords = [password, ...before.passwords.filter((word) => word !== password)];
  const acl = before.acl ?? (await readAclDigest(clients, access));
  if (servers.length > 0) {
    await writeKept(kubernetes, access, owner, { passwords, givenAtMs: null, acl });
    await withMembers(clients, access, servers, (members) =>
      Promise.all(members.map((member) => givePassword(member, password))),
    );
    await assertTaken(clients, access, servers, password);
  }
  await writeKept(kubernetes, access, owner, { passwords, givenAtMs: Date.now(), acl });
  return { servers: servers.length };
}

/** Refuses to drop anything before every server has let us in with the newest password. */
export async function dropPasswords(
  clients: ValkeyClients,
  { access, owner, servers }: Input,
): Promise<{ readonly dropped: number }> {
  const { kubernetes } = clients;
  const { credentials, kept } = await readLogIn(kubernetes, access);
  const { password, older = [] } = credentials;
  if (password === null || older.length === 0) return { dropped: 0 };
  await assertTaken(clients, access, servers, password);
  await withMembers(clients, access, servers, (members) =>
    Promise.all(members.map((member) => refuseOlder(member, older))),
  );
  await writeKept(kubernetes, access, owner, { ...kept, passwords: [password] });
  return { dropped: older.length };
}

/** Clients may use either password from now on; what this server sends to others, it sends the new one. */
async function givePassword(member: Member, password: string): Promise<void> {
  await member.tell('ACL', 'SETUSER', member.credentials.user, `#${digestOf(password)}`);
  const [, value] = await member.askList('CONFIG', 'GET', 'masterauth');
  if (!Buffer.isBuffer(value) || value.toString() !== password)
    await member.tell('CONFIG', 'SET', 'masterauth', password);
}

async function refuseOlder(member: Member, older: readonly string[]): Promise<void> {
  for (const word of older) {
    try {
      await member.tell('ACL', 'SETUSER', member.credentials.user, `!${digestOf(word)}`);
    } catch (error) {
      // A server that has started since never had it.
      if (!(error instanceof ValkeyError) || !/does not exist/.test(error.message)) throw error;
    }
  }
}

/** Logs in to every server anew, with this password and no other. */
async function assertTaken(
  clients: ValkeyClients,
  access: ValkeyAccess,
  servers: Input['servers'],
  password: string,
): Promise<void> {
  const credentials = await readCredentials(clients.kubernetes, access);
  if (credentials.password !== password)
    throw failure('ValkeyNotConverged', 'the Secret with the password has changed once more');
  const alone: Credentials = { ...credentials, older: [] };
  await Promise.all(servers.map(async (server) => (await clients.connect(server, alone)).close()));
}

/** The digest of the ACL file that servers read when they start; null without one. */
async function readAclDigest({ kubernetes }: ValkeyClients, access: ValkeyAccess): Promise<string | null> {
  const acl = access.auth?.acl;
  if (acl === undefined) return null;
  return digestOf(secretValue(await readSecret(kubernetes, access.namespace, acl.secret), acl.key));
}
