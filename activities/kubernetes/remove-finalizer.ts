import { failure } from '../../workflows/shared/failures.ts';
import type { KubernetesClient } from './client.ts';
import type { ObjectIdentity } from './contract.ts';
import { isConflict, isNotFound, KubernetesError } from './errors.ts';

const TRIES = 5;

/** Removes our finalizer and no other, from this very object and no successor. */
export async function removeFinalizer(
  client: KubernetesClient,
  resource: ObjectIdentity,
  finalizer: string,
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const found = await client.read(resource);
    if (found === null || found.metadata.uid !== resource.uid) return;
    const at = found.metadata.finalizers?.indexOf(finalizer) ?? -1;
    if (at < 0) return;
    const body = [
      { op: 'test', path: '/metadata/uid', value: resource.uid },
      { op: 'test', path: `/metadata/finalizers/${at}`, value: finalizer },
      { op: 'remove', path: `/metadata/finalizers/${at}` },
    ];
    try {
      await client.patch(resource, { type: 'json', manager: 'keelson', body });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) && !isFailedTest(error)) throw error;
    }
  }
  throw failure('KubernetesConflict', `the finalizers of ${resource.name} keep changing`);
}

/** A `test` that does not hold is answered as invalid. */
const isFailedTest = (error: unknown): boolean => error instanceof KubernetesError && error.code === 422;
