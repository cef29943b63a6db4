import { createHash } from 'node:crypto';
import { z } from 'zod';
import { failure } from '../../workflows/shared/failures.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { applyObjects } from '../kubernetes/apply-objects.ts';
import type { ObjectIdentity } from '../kubernetes/contract.ts';
import type { Secret } from '../kubernetes/objects.ts';
import type { ValkeyAccess } from './contract.ts';

const MANAGER = 'keelson';
const KEY = 'kept.json';

const content = z.object({
  passwords: z.array(z.string()),
  givenAtMs: z.number().nullable(),
  acl: z.string().nullable(),
});

/** What servers were given: kept beside the cluster, because the user's own Secret has only what is wanted next. */
export interface Kept {
  /** The newest first. */
  readonly passwords: readonly string[];
  /** When all servers had the newest; null while they are being given it. */
  readonly givenAtMs: number | null;
  /** A digest of the ACL file that they have. */
  readonly acl: string | null;
}

const NOTHING: Kept = { passwords: [], givenAtMs: null, acl: null };

/** Reads what is kept; nothing before a password was first kept. */
export async function readKept(
  kubernetes: Pick<KubernetesClient, 'read'>,
  { namespace, auth }: ValkeyAccess,
): Promise<Kept> {
  if (auth?.kept === undefined) return NOTHING;
  const name = { apiVersion: 'v1', kind: 'Secret', namespace, name: auth.kept };
  const text = (await kubernetes.read<Secret>(name))?.data?.[KEY];
  return text === undefined ? NOTHING : parseKept(auth.kept, Buffer.from(text, 'base64').toString('utf8'));
}

/** An error of the parser would repeat what it has read, and so a password. */
function parseKept(name: string, text: string): Kept {
  try {
    return content.parse(JSON.parse(text));
  } catch {
    const words = `Secret ${name} is not as we have written it: delete it, once all servers take the password of spec.auth`;
    throw failure('DependencyMissing', words);
  }
}

/** Writes what is kept, as the cluster's own: it goes with the cluster, and never into a Secret of somebody else. */
export async function writeKept(
  kubernetes: KubernetesClient,
  { namespace, auth }: ValkeyAccess,
  owner: ObjectIdentity,
  kept: Kept,
): Promise<void> {
  if (auth?.kept === undefined) throw new Error('without a name there is nothing to keep passwords in');
  const data = { [KEY]: Buffer.from(JSON.stringify(kept)).toString('base64') };
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: auth.kept, namespace, labels: { 'app.kubernetes.io/managed-by': MANAGER } },
    type: 'Opaque',
    data,
  };
  await applyObjects(kubernetes, { owner, manager: MANAGER, objects: [secret], known: {} });
}

/** As ACLs write a password; it also tells one ACL file from another. */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');
