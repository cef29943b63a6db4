import type { KubernetesApi } from '../../kubernetes/api.ts';
import type { ApiObject } from '../api/objects.ts';
import { ConfigurationError } from '../pod/fields.ts';

interface Claim extends ApiObject {
  readonly spec?: { readonly volumeName?: string };
  readonly status?: { readonly phase?: string };
}

interface PersistentVolume extends ApiObject {
  readonly spec?: {
    readonly hostPath?: { readonly path: string };
    readonly local?: { readonly path: string };
  };
}

/** The directory behind a claim; throws in words until the claim is bound to a volume of this machine. */
export async function readClaimPath(api: KubernetesApi, namespace: string, name: string): Promise<string> {
  const claim = await api.read<Claim>(`/api/v1/namespaces/${namespace}/persistentvolumeclaims/${name}`);
  if (claim === undefined) throw new ConfigurationError(`persistentvolumeclaim "${name}" not found`);
  const volumeName = claim.spec?.volumeName;
  if (claim.status?.phase !== 'Bound' || volumeName === undefined) {
    throw new ConfigurationError(`persistentvolumeclaim "${name}" is not bound`);
  }
  const volume = await api.read<PersistentVolume>(`/api/v1/persistentvolumes/${volumeName}`);
  const path = volume?.spec?.hostPath?.path ?? volume?.spec?.local?.path;
  if (path === undefined)
    throw new ConfigurationError(`persistentvolume "${volumeName}" has no path on this machine`);
  return path;
}
