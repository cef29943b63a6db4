import type { KubernetesApi } from '../../kubernetes/api.ts';
import type { KeyedData } from '../api/objects.ts';
import type { ReferencedData } from '../pod/environment.ts';
import type { References } from '../pod/references.ts';

/** Reads ConfigMaps and Secrets afresh, so that a container never starts with what was there before. */
export async function readReferencedData(
  api: KubernetesApi,
  namespace: string,
  references: References,
): Promise<ReferencedData> {
  const [configMaps, secrets] = await Promise.all([
    readAll(api, `/api/v1/namespaces/${namespace}/configmaps`, references.configMaps),
    readAll(api, `/api/v1/namespaces/${namespace}/secrets`, references.secrets),
  ]);
  return { configMaps, secrets };
}

async function readAll(
  api: KubernetesApi,
  path: string,
  names: ReadonlySet<string>,
): Promise<ReadonlyMap<string, KeyedData>> {
  const found = new Map<string, KeyedData>();
  const reads = [...names].map(async (name) => {
    const object = await api.read<KeyedData>(`${path}/${name}`);
    if (object !== undefined) found.set(name, object);
  });
  await Promise.all(reads);
  return found;
}
