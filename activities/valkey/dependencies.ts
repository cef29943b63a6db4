import type {
  MissingDependency,
  ValkeyClusterResource,
} from '../../workflows/valkey-cluster/domain/observation.ts';
import { isForbidden } from '../kubernetes/errors.ts';
import type { Secret } from '../kubernetes/objects.ts';
import type { ValkeyClients } from './access.ts';

/** What a spec needs to exist: a Secret with these keys, a kind of the API server, or an object. */
type Need =
  | { readonly is: 'secret'; readonly field: string; readonly name: string; readonly keys: readonly string[] }
  | { readonly is: 'kind'; readonly field: string; readonly apiVersion: string; readonly kind: string }
  | { readonly is: 'storageClass'; readonly field: string; readonly name: string };

/** Looks for everything that the spec names. */
export async function findMissing(
  { kubernetes }: ValkeyClients,
  cluster: ValkeyClusterResource,
): Promise<readonly MissingDependency[]> {
  const found = await Promise.all(
    needsOf(cluster).map(async (need) => {
      const message = await lackOf(kubernetes, cluster.namespace, need);
      return message === null ? [] : [{ field: need.field, message }];
    }),
  );
  return found.flat();
}

function needsOf({ spec }: ValkeyClusterResource): readonly Need[] {
  const { auth, tls, image, persistence } = spec;
  const acl = auth?.acl?.enabled === true ? auth.acl.configSecretRef : undefined;
  const secret = (field: string, name: string, ...keys: readonly string[]): Need => ({
    is: 'secret',
    field,
    name,
    keys,
  });
  const ownTls = tls !== undefined && tls.secretName !== undefined;
  return [
    ...(auth === undefined ? [] : [secret('spec.auth.secretRef', auth.secretRef.name, auth.secretRef.key)]),
    ...(acl === undefined ? [] : [secret('spec.auth.acl.configSecretRef', acl.name, acl.key)]),
    ...(tls === undefined
      ? []
      : ownTls
        ? [secret('spec.tls.secretName', tls.secretName ?? '', 'tls.crt', 'tls.key', 'ca.crt')]
        : [issuer(tls.issuerRef?.group ?? 'cert-manager.io')]),
    ...image.pullSecrets.map((name, at) => secret(`spec.image.pullSecrets[${at}]`, name)),
    ...(persistence.enabled &&
    persistence.storageClassName !== undefined &&
    persistence.storageClassName !== ''
      ? ([
          {
            is: 'storageClass',
            field: 'spec.persistence.storageClassName',
            name: persistence.storageClassName,
          },
        ] as const)
      : []),
  ];
}

const issuer = (group: string): Need => ({
  is: 'kind',
  field: 'spec.tls.issuerRef',
  apiVersion: `${group}/v1`,
  kind: 'Certificate',
});

/** What is wrong with it, in words that name the remedy; null when nothing is. */
async function lackOf(
  kubernetes: ValkeyClients['kubernetes'],
  namespace: string,
  need: Need,
): Promise<string | null> {
  switch (need.is) {
    case 'kind':
      return (await kubernetes.has(need.apiVersion, need.kind))
        ? null
        : `${need.apiVersion} is not served here: install cert-manager, or name a Secret in spec.tls.secretName`;
    case 'storageClass':
      return (await hasStorageClass(kubernetes, need.name))
        ? null
        : `StorageClass ${need.name} does not exist: create it`;
    case 'secret': {
      const name = { apiVersion: 'v1', kind: 'Secret', namespace, name: need.name };
      const found = await kubernetes.read<Secret>(name);
      if (found === null) return `Secret ${need.name} does not exist: create it`;
      const lacking = need.keys.find((key) => (found.data?.[key] ?? '') === '');
      return lacking === undefined ? null : `Secret ${need.name} has no key "${lacking}": add it`;
    }
  }
}

/** Where the worker may not look at what belongs to the whole cluster, it is taken to be there. */
async function hasStorageClass(kubernetes: ValkeyClients['kubernetes'], name: string): Promise<boolean> {
  const kind = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', namespace: '' };
  try {
    return (await kubernetes.read({ ...kind, name })) !== null;
  } catch (error) {
    if (isForbidden(error)) return true;
    throw error;
  }
}
