import { entityId } from '../workflows/shared/messages.ts';
import type { ResourceRef } from '../workflows/shared/messages.ts';
import type { KubernetesObject, LifecycleWatch } from './watch-definition.ts';

/** SQL stores of Temporal take ids of 255 characters; an operation's id adds its name, uid, generation and turn. */
const LONGEST_ENTITY_ID = 200;

/** Why an object cannot be handed to a workflow, in words that say what to change, or null. */
export function refuseObject(
  watch: LifecycleWatch,
  object: KubernetesObject,
  owner: (object: KubernetesObject) => ResourceRef | null,
): string | null {
  try {
    const ref = owner(object);
    if (ref === null)
      return `It does not name the ${watch.primary.kind} that it is for: set the reference in its spec.`;
    const id = entityId(watch.lifecycle, ref);
    if (id.length > LONGEST_ENTITY_ID)
      return `metadata.name is too long: the workflow id "${id}" would have ${id.length} characters, of at most ${LONGEST_ENTITY_ID}. Choose a shorter name.`;
    return watch.refuse?.(object) ?? null;
  } catch (error) {
    return `It could not be read (${error instanceof Error ? error.message : String(error)}).`;
  }
}
