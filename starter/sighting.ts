import { createHash } from 'node:crypto';
import type { Hint, ResourceRef } from '../workflows/shared/messages.ts';
import { canonicalJson } from '../workflows/shared/plan.ts';
import type { Json } from '../workflows/shared/plan.ts';
import { fieldOf, textOf } from './object-field.ts';
import type { KubernetesObject, ResourceType } from './watch-definition.ts';

/** What is remembered of an object: enough to tell news from noise, and no more. */
export interface Sighting {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly deleting: boolean;
  readonly finalizers: readonly string[];
  /** Over labels, annotations and what its watch declares as news. */
  readonly digest: string;
  /** An operation runs on it, by its own status. */
  readonly operating: boolean;
  /** Which of our own conditions (`Parked`, `Accepted`) stand on it with a bad word. */
  readonly reported: readonly string[];
  readonly owner: ResourceRef | null;
  /** Of a primary resource: the objects of other types that it names, by kind. */
  readonly names?: Readonly<Record<string, readonly string[]>>;
  /** Why it cannot be handed to a workflow. */
  readonly problem: string | null;
}

/** How an object differs from what was last seen of it. */
export type News = 'created' | 'generation' | 'deletion' | 'metadata' | 'none';

/** Our conditions on a resource, and the value with which each of them reports trouble. */
export const REPORTED_CONDITIONS = { Parked: 'True', Accepted: 'False' } as const;

/** What an event brings: only a new object, a new generation or a deletion can matter to a running operation. */
export function judgeNews(before: Sighting | null, now: Sighting): News {
  if (before === null || before.uid !== now.uid) return now.deleting ? 'deletion' : 'created';
  if (now.deleting && !before.deleting) return 'deletion';
  if (now.generation > before.generation) return 'generation';
  return now.digest === before.digest ? 'none' : 'metadata';
}

/** Takes from an object what is remembered of it; throws a sentence when it is not even an object of Kubernetes. */
export function sightingOf(
  type: ResourceType,
  object: KubernetesObject,
  options: {
    readonly owner: (object: KubernetesObject) => ResourceRef | null;
    readonly news?: (object: KubernetesObject) => string;
    readonly refuse?: (object: KubernetesObject) => string | null;
  },
): Sighting {
  const metadata = fieldOf(object, 'metadata');
  const name = textOf(metadata, 'name');
  const uid = textOf(metadata, 'uid');
  if (name === null || uid === null) throw new Error(`A ${type.kind} without a name or a uid was received.`);
  const generation = fieldOf(metadata, 'generation');
  const finalizers = fieldOf(metadata, 'finalizers');
  return {
    kind: type.kind,
    namespace: textOf(metadata, 'namespace') ?? '',
    name,
    uid,
    generation: typeof generation === 'number' ? generation : 0,
    deleting: textOf(metadata, 'deletionTimestamp') !== null,
    finalizers: Array.isArray(finalizers) ? finalizers.map(String) : [],
    digest: digestOf(metadata, options.news?.(object) ?? ''),
    operating: isOperating(object),
    reported: reportedConditions(object),
    owner: options.owner(object),
    problem: options.refuse?.(object) ?? null,
  };
}

/** The hint that stands for a sighting. */
export const hintOf = (sighting: Sighting): Hint => ({
  kind: sighting.kind,
  uid: sighting.uid,
  generation: sighting.generation,
});

function digestOf(metadata: unknown, news: string): string {
  const value = [fieldOf(metadata, 'labels') ?? null, fieldOf(metadata, 'annotations') ?? null, news];
  return createHash('sha256')
    .update(canonicalJson(value as Json))
    .digest('base64url');
}

function isOperating(object: KubernetesObject): boolean {
  const operation = fieldOf(fieldOf(object, 'status'), 'currentOperation');
  return operation !== undefined && operation !== null && operation !== '';
}

function reportedConditions(object: KubernetesObject): readonly string[] {
  const conditions = fieldOf(fieldOf(object, 'status'), 'conditions');
  if (!Array.isArray(conditions)) return [];
  return Object.entries(REPORTED_CONDITIONS)
    .filter(([type, bad]) =>
      conditions.some((one) => fieldOf(one, 'type') === type && fieldOf(one, 'status') === bad),
    )
    .map(([type]) => type);
}
