import type { KubernetesApi } from './kubernetes-api.ts';
import { JSON_PATCH } from './kubernetes-api.ts';
import { isRefusal } from './kubernetes-refusal.ts';
import { fieldOf, textOf } from './object-field.ts';
import { FINALIZER, resourcePath } from './watch-definition.ts';
import type { ResourceType } from './watch-definition.ts';

const ATTEMPTS = 5;

/**
 * Puts the finalizer on an object unless it has it or is being deleted; it may be repeated. Answers false when the object
 * is gone or is another one. The patch tests uid and version, so that no finalizer of another writer is ever lost.
 */
export async function applyFinalizer(
  api: KubernetesApi,
  type: ResourceType,
  object: { readonly namespace: string; readonly name: string; readonly uid: string },
): Promise<boolean> {
  const path = resourcePath(type, { namespace: object.namespace, name: object.name });
  for (let attempt = 1; ; attempt += 1) {
    try {
      const metadata = fieldOf(await api.request(path), 'metadata');
      if (textOf(metadata, 'uid') !== object.uid) return false;
      const finalizers = fieldOf(metadata, 'finalizers');
      const present: readonly unknown[] = Array.isArray(finalizers) ? finalizers : [];
      if (present.includes(FINALIZER) || textOf(metadata, 'deletionTimestamp') !== null) return true;
      const body = buildFinalizerPatch(
        object.uid,
        textOf(metadata, 'resourceVersion') ?? '',
        present.length > 0,
      );
      await api.request(path, { method: 'PATCH', contentType: JSON_PATCH, body });
      return true;
    } catch (error) {
      if (isRefusal(error, 404)) return false;
      // Somebody else wrote in between: look again.
      if (!isRefusal(error, 409, 422) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** The patch that adds the finalizer to exactly this version of exactly this object. */
export function buildFinalizerPatch(
  uid: string,
  resourceVersion: string,
  hasOthers: boolean,
): readonly object[] {
  const add = hasOthers
    ? { op: 'add', path: '/metadata/finalizers/-', value: FINALIZER }
    : { op: 'add', path: '/metadata/finalizers', value: [FINALIZER] };
  return [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    add,
  ];
}
