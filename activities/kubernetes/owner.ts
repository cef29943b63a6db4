import { failure } from '../../workflows/shared/failures.ts';
import type { KubernetesClient } from './client.ts';
import type { ObjectIdentity } from './contract.ts';
import type { KubernetesObject } from './objects.ts';

/** Reads the very object that is meant; refuses, as stale, when it is gone, is another one or has a newer spec. */
export async function readIdentity<T extends KubernetesObject>(
  client: KubernetesClient,
  identity: ObjectIdentity & { readonly generation?: number },
): Promise<T> {
  const found = await client.read<T>(identity);
  const words = `${identity.kind} ${identity.namespace}/${identity.name}`;
  if (found === null) throw failure('ResourceGone', `${words} is gone`);
  if (found.metadata.uid !== identity.uid)
    throw failure('ResourceReplaced', `${words} is another one now (uid ${found.metadata.uid})`);
  const generation = found.metadata.generation ?? 0;
  if (identity.generation !== undefined && generation > identity.generation)
    throw failure(
      'GenerationMoved',
      `${words} is at generation ${generation}, not ${identity.generation} any more`,
    );
  return found;
}
