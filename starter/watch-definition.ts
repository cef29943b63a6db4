import type { ResourceRef } from '../workflows/shared/messages.ts';

/** A type of object as the API server's paths name it; the core group is the empty string. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
}

/** An object as it arrives: nothing about it is certain before it was looked at. */
export type KubernetesObject = Readonly<Record<string, unknown>>;

/** Further objects that concern the same entity. */
export interface SecondaryWatch extends ResourceType {
  /** Limits the watch on the server, e.g. `app.kubernetes.io/managed-by=keelson`. */
  readonly labelSelector?: string;
  /** The resource whose entity it concerns, or null when it concerns none. */
  readonly owner: (object: KubernetesObject) => ResourceRef | null;
  /** The objects of this type that a primary resource names, in its own namespace: each concerns whoever names it. */
  readonly namedBy?: (primary: KubernetesObject) => readonly string[];
  /**
   * A wish (such as an upgrade) is forwarded like the primary resource, and refused with a condition when there is none;
   * a part (such as a pod) wakes at most. Neither gets the finalizer: the entity lives as long as the primary resource.
   */
  readonly is: 'wish' | 'part';
  /** What of a part's status is news beside generation, deletion, labels and annotations: a pod that is no longer Ready. */
  readonly news?: (object: KubernetesObject) => string;
}

/** A whole lifecycle as the starter sees it: one such value in one file of `watches/`. */
export interface LifecycleWatch {
  readonly lifecycle: string;
  readonly workflowType: string;
  readonly primary: ResourceType;
  readonly secondaries: readonly SecondaryWatch[];
  /** Why an object cannot be handed to its workflow at all, in words, or null. */
  readonly refuse?: (object: KubernetesObject) => string | null;
}

/** Keeps an object in place until its workflow has cleaned up, so that no deletion is missed. */
export const FINALIZER = 'keelson.dev/cleanup';

/** The path of a type, of a namespace's objects, or of one object (or its subresource). */
export function resourcePath(
  type: Pick<ResourceType, 'group' | 'version' | 'plural'>,
  ref: { readonly namespace?: string; readonly name?: string; readonly subresource?: string } = {},
): string {
  const root = type.group === '' ? ['api', type.version] : ['apis', type.group, type.version];
  const namespace = ref.namespace === undefined ? [] : ['namespaces', ref.namespace];
  const rest = [ref.name, ref.subresource].filter((part) => part !== undefined);
  return `/${[...root, ...namespace, type.plural, ...rest].map(encodeURIComponent).join('/')}`;
}

/** `v1` or `group/v1`. */
export const apiVersionOf = (type: Pick<ResourceType, 'group' | 'version'>): string =>
  type.group === '' ? type.version : `${type.group}/${type.version}`;
