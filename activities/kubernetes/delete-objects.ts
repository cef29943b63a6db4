import { pollUntil } from '../polling.ts';
import type { KubernetesClient } from './client.ts';
import type { ObjectIdentity } from './contract.ts';
import { isConflict } from './errors.ts';
import { runsPods, type KubernetesObject } from './objects.ts';

const LOOK_EVERY_MS = 100;

/** Deletes each object by uid, what runs pods together with its pods, then waits until none is there any more; another object of the name is left alone. */
export async function deleteObjects(
  client: KubernetesClient,
  objects: readonly ObjectIdentity[],
  gracePeriodSeconds: number | undefined,
): Promise<{ readonly deleted: number }> {
  const outcomes = await Promise.all(
    objects.map((object) => deleteObject(client, object, gracePeriodSeconds)),
  );
  let gone = 0;
  for (const object of objects) {
    await pollUntil(LOOK_EVERY_MS, async () => {
      const found = await client.read(object);
      if (found === null || found.metadata.uid !== object.uid) return { done: null };
      return { waiting: `${gone} of ${objects.length} objects are gone; ${holdUp(object, found)}` };
    });
    gone += 1;
  }
  return { deleted: outcomes.filter(Boolean).length };
}

async function deleteObject(
  client: KubernetesClient,
  object: ObjectIdentity,
  gracePeriodSeconds: number | undefined,
): Promise<boolean> {
  const options = { uid: object.uid, foreground: runsPods(object.kind) };
  try {
    return await client.delete(
      object,
      gracePeriodSeconds === undefined ? options : { ...options, gracePeriodSeconds },
    );
  } catch (error) {
    if (isConflict(error)) return false; // The uid did not fit: ours is gone.
    throw error;
  }
}

function holdUp(object: ObjectIdentity, found: KubernetesObject): string {
  const finalizers = found.metadata.finalizers ?? [];
  const why = finalizers.length === 0 ? '' : ` (${finalizers.join(', ')})`;
  return `${object.kind} ${object.name} is still there${why}`;
}
