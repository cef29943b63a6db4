import type { ConnectionOptions } from 'node:tls';
import { failure } from '../../workflows/shared/failures.ts';
import type { ValkeyIntent, ValkeyObservation } from '../../workflows/valkey-cluster/domain/observation.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import type { Pod, Secret } from '../kubernetes/objects.ts';
import type { Connect, Credentials, ValkeyConnection } from './client.ts';
import type { ValkeyAccess, ValkeyServer } from './contract.ts';
import { readKept, type Kept } from './kept-passwords.ts';

/** What the lifecycle calls its objects; its own domain says it, and the worker hands it over. */
export interface ValkeyNaming {
  readonly apiVersion: string;
  readonly kind: string;
  /** The kind of the upgrades of a cluster, and the annotation of one that a changed tag stands behind. */
  readonly upgradeKind: string;
  readonly forTagAnnotation: string;
  readonly clusterLabel: string;
  readonly shardLabel: string;
  /** The annotation with the hash of what only a restart changes. */
  readonly templateAnnotation: string;
  /** The container of the server in a pod. */
  readonly container: string;
  /** The annotation of a StatefulSet with the hash of what was applied with it. */
  readonly appliedAnnotation: string;
  readonly port: number;
  /** How the servers of a cluster are reached, by what its spec says. */
  accessOf(cluster: ValkeyObservation['cluster']): ValkeyAccess;
  /** The hashes that the objects of what was observed should carry. */
  intentOf(observed: ValkeyObservation): ValkeyIntent;
}

/** What the activities are made from. */
export interface ValkeyClients {
  readonly kubernetes: KubernetesClient;
  readonly connect: Connect;
  readonly naming: ValkeyNaming;
}

/** A connection to a server of which its pod's uid was checked. */
export interface Member extends ValkeyConnection {
  readonly server: ValkeyServer;
}

/** Opens all servers at once, each behind its fence, and closes them again whatever happens. */
export async function withMembers<T>(
  clients: ValkeyClients,
  access: ValkeyAccess,
  servers: readonly ValkeyServer[],
  work: (members: readonly Member[]) => Promise<T>,
  timeoutMs?: { readonly connect: number; readonly command: number },
): Promise<T> {
  const [credentials] = await Promise.all([
    readCredentials(clients.kubernetes, access),
    ...servers.map((server) => assertPod(clients.kubernetes, access.namespace, server)),
  ]);
  const opened = await Promise.allSettled(
    servers.map((server) => clients.connect(server, credentials, timeoutMs)),
  );
  try {
    const members = opened.map((one, at): Member => {
      const server = servers[at];
      if (one.status === 'rejected' || server === undefined) throw (one as PromiseRejectedResult).reason;
      return { ...one.value, server };
    });
    return await work(members);
  } finally {
    for (const one of opened) if (one.status === 'fulfilled') one.value.close();
  }
}

/** The same for one server. */
export const withMember = <T>(
  clients: ValkeyClients,
  access: ValkeyAccess,
  server: ValkeyServer,
  work: (member: Member) => Promise<T>,
): Promise<T> =>
  withMembers(clients, access, [server], ([member]) => {
    if (member === undefined) throw new Error('one server gives one member');
    return work(member);
  });

/** Refuses, as stale, a pod that is gone, going, or another one: its address may be anybody's by now. */
async function assertPod(
  kubernetes: Pick<KubernetesClient, 'read'>,
  namespace: string,
  { pod: name, podUid, ip }: ValkeyServer,
): Promise<void> {
  const pod = await kubernetes.read<Pod>({ apiVersion: 'v1', kind: 'Pod', namespace, name });
  const why =
    pod === null
      ? 'is gone'
      : pod.metadata.uid !== podUid
        ? 'was replaced by another pod'
        : pod.metadata.deletionTimestamp !== undefined
          ? 'is being deleted'
          : pod.status?.podIP !== ip
            ? `is at ${pod.status?.podIP ?? 'no address'}, not at ${ip}`
            : null;
  if (why !== null) throw failure('ValkeyPodReplaced', `pod ${name} ${why}`);
}

/** What opens servers, and what they were given last. */
export interface LogIn {
  readonly credentials: Credentials;
  readonly kept: Kept;
}

/** Reads the Secrets that the access names, and the passwords that we keep for servers that lag behind. */
export const readCredentials = async (
  kubernetes: Pick<KubernetesClient, 'read'>,
  access: ValkeyAccess,
): Promise<Credentials> => (await readLogIn(kubernetes, access)).credentials;

/** The same, with what is kept. */
export async function readLogIn(
  kubernetes: Pick<KubernetesClient, 'read'>,
  access: ValkeyAccess,
): Promise<LogIn> {
  const { auth, tls, namespace } = access;
  const [authSecret, tlsSecret, kept] = await Promise.all([
    auth === null ? null : readSecret(kubernetes, namespace, auth.secret),
    tls === null ? null : readSecret(kubernetes, namespace, tls.secret),
    readKept(kubernetes, access),
  ]);
  const password = auth === null || authSecret === null ? null : secretValue(authSecret, auth.key);
  const credentials = {
    user: auth?.user ?? 'default',
    password,
    older: kept.passwords.filter((word) => word !== password),
    tls: tlsSecret === null ? null : tlsOptions(tlsSecret, access),
  };
  return { credentials, kept };
}

/** Reads a Secret that must be there. */
export async function readSecret(
  kubernetes: Pick<KubernetesClient, 'read'>,
  namespace: string,
  name: string,
): Promise<Secret> {
  const secret = await kubernetes.read<Secret>({ apiVersion: 'v1', kind: 'Secret', namespace, name });
  if (secret === null) throw failure('DependencyMissing', `Secret ${namespace}/${name} does not exist`);
  return secret;
}

/** The text under a key that must be there. */
export function secretValue(secret: Secret, key: string): string {
  // The pods' start script drops line breaks at the end too, as editors and `echo` leave them there.
  const value = decode(secret, key)?.replace(/\n+$/, '') ?? null;
  if (value !== null) return value;
  throw failure('DependencyMissing', `Secret ${secret.metadata.name} has no key "${key}"`);
}

const decode = (secret: Secret, key: string): string | null => {
  const value = secret.data?.[key];
  return value === undefined ? null : Buffer.from(value, 'base64').toString('utf8');
};

/**
 * The Secret's own authority vouches for the server. Its certificate names services, not the pod address that we
 * dial, so the name is not compared; which pod it is, the pod's uid has told.
 */
function tlsOptions(secret: Secret, access: ValkeyAccess): ConnectionOptions {
  const ca = decode(secret, 'ca.crt');
  const cert = decode(secret, 'tls.crt');
  const key = decode(secret, 'tls.key');
  return {
    servername: `${access.cluster}.${access.namespace}.svc`,
    checkServerIdentity: () => undefined,
    ...(ca === null ? {} : { ca }),
    ...(cert === null || key === null ? {} : { cert, key }),
  };
}
