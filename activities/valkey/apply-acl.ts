import { failure } from '../../workflows/shared/failures.ts';
import {
  readLogIn,
  readSecret,
  secretValue,
  withMembers,
  type Member,
  type ValkeyClients,
} from './access.ts';
import { parseAclFile, refuseAcl, type AclUser } from './acl-file.ts';
import type { ValkeyActivities } from './contract.ts';
import { digestOf, writeKept } from './kept-passwords.ts';

type Input = Parameters<ValkeyActivities['applyValkeyAcl']>[0];

/**
 * Sets the users one by one. A server could load its own file, but the kubelet may bring the new one a minute later;
 * one that starts anew reads it by itself.
 */
export async function applyAcl(
  clients: ValkeyClients,
  { access, owner, servers }: Input,
): Promise<{ readonly users: number; readonly removed: number }> {
  const { kubernetes } = clients;
  const { auth, namespace } = access;
  if (auth?.acl === undefined) return { users: 0, removed: 0 };
  const [{ credentials, kept }, secret] = await Promise.all([
    readLogIn(kubernetes, access),
    readSecret(kubernetes, namespace, auth.acl.secret),
  ]);
  const { password, older = [] } = credentials;
  const text = secretValue(secret, auth.acl.key);
  const users = parseAclFile(text);
  const refusal = refuseAcl(users, auth.user, password ?? '');
  if (refusal !== null) throw failure('ValkeyAcl', refusal);
  // Older passwords are dropped when clients have had the time to take the new one, not by the way.
  const valid = older.map((word) => `#${digestOf(word)}`);
  const wanted = users.map(({ name, rules }) => ({
    name,
    rules: name === auth.user ? [...rules, ...valid] : rules,
  }));
  const removed = await withMembers(clients, access, servers, (members) =>
    Promise.all(members.map((member) => setUsers(member, wanted))),
  );
  await writeKept(kubernetes, access, owner, { ...kept, acl: digestOf(text) });
  return { users: users.length, removed: Math.max(0, ...removed) };
}

/** Sets each user as a whole, then removes those that are in the file no more; answers how many these were. */
async function setUsers(member: Member, users: readonly AclUser[]): Promise<number> {
  for (const { name, rules } of users) await member.tell('ACL', 'SETUSER', name, 'reset', ...rules);
  const present = (await member.askList('ACL', 'USERS')).map(String);
  // The default user cannot be removed.
  const surplus = present.filter((name) => name !== 'default' && users.every((user) => user.name !== name));
  if (surplus.length > 0) await member.tell('ACL', 'DELUSER', ...surplus);
  return surplus.length;
}
