import { isDeepStrictEqual } from 'node:util';
import { failure } from '../../workflows/shared/failures.ts';
import type { KubernetesClient } from './client.ts';
import type { KubernetesActivities } from './contract.ts';
import { isConflict, KubernetesError } from './errors.ts';
import { readIdentity } from './owner.ts';

type Input = Parameters<KubernetesActivities['setKubernetesField']>[0];

const TRIES = 5;

/** Changes one field from what it was to what it is to be; what somebody else wants by now is left alone. */
export async function setField(
  client: KubernetesClient,
  { resource, path, from, to }: Input,
): Promise<{ readonly holds: boolean }> {
  const pointer = `/${path.join('/')}`;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const found = await readIdentity(client, resource);
    const value = path.reduce<unknown>((part, key) => Object(part)[key], found);
    if (isDeepStrictEqual(value, to)) return { holds: true };
    if (!isDeepStrictEqual(value, from)) return { holds: false };
    const body = [
      { op: 'test', path: '/metadata/uid', value: resource.uid },
      { op: 'test', path: pointer, value: from },
      { op: 'replace', path: pointer, value: to },
    ];
    try {
      await client.patch(resource, { type: 'json', manager: 'keelson', body });
      return { holds: true };
    } catch (error) {
      if (!isConflict(error) && !isFailedTest(error)) throw error;
    }
  }
  throw failure('KubernetesConflict', `${pointer} of ${resource.name} keeps changing`);
}

/** A `test` that does not hold is answered as invalid. */
const isFailedTest = (error: unknown): boolean => error instanceof KubernetesError && error.code === 422;
