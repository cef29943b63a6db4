import type { ValkeySecrets } from '../../workflows/valkey-cluster/domain/observation.ts';
import type { Secret } from '../kubernetes/objects.ts';
import { secretValue, type ValkeyClients } from './access.ts';
import type { Asked } from './ask-servers.ts';
import type { ValkeyAccess } from './contract.ts';
import { digestOf } from './kept-passwords.ts';

/** Compares what the Secrets say with what servers were given; null where there is nobody, or nothing, to compare. */
export async function observeSecrets(
  clients: ValkeyClients,
  access: ValkeyAccess,
  { answers, logIn }: Asked,
): Promise<ValkeySecrets | null> {
  const answered = answers.flatMap((answer) => ('view' in answer ? [answer] : []));
  if (access.auth === null || logIn === null || answered.length === 0) return null;
  const { kept, credentials } = logIn;
  const { password, older = [] } = credentials;
  const { passwords, givenAtMs } = kept;
  const acl = await readAcl(clients, access);
  return {
    kept: passwords[0] === password && givenAtMs !== null,
    lacking: answered.filter((answer) => answer.lacksPassword).map(({ pod }) => pod),
    older: older.length,
    // What is looked at again must look the same while nothing is waited for.
    keptSeconds:
      givenAtMs === null || older.length === 0
        ? 0
        : Math.max(0, Math.round((Date.now() - givenAtMs) / 1_000)),
    aclChanged: acl !== null && kept.acl !== null && acl !== kept.acl,
  };
}

/** The digest of the ACL Secret; one that is missing is told of elsewhere. */
async function readAcl({ kubernetes }: ValkeyClients, access: ValkeyAccess): Promise<string | null> {
  const acl = access.auth?.acl;
  if (acl === undefined) return null;
  const name = { apiVersion: 'v1', kind: 'Secret', namespace: access.namespace, name: acl.secret };
  const secret = await kubernetes.read<Secret>(name);
  return secret?.data?.[acl.key] === undefined ? null : digestOf(secretValue(secret, acl.key));
}
