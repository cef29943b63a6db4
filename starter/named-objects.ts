import type { Change } from './informer.ts';
import type { Sighting } from './sighting.ts';
import type { KubernetesObject, LifecycleWatch } from './watch-definition.ts';

/** What a resource names of each type that is watched for it. */
export function namesIn(
  watch: LifecycleWatch,
  object: KubernetesObject,
): Readonly<Record<string, readonly string[]>> {
  const named = watch.secondaries.flatMap(({ kind, namedBy }) =>
    namedBy === undefined ? [] : [[kind, namedBy(object)] as const],
  );
  return Object.fromEntries(named);
}

/** A change of an object as it concerns each resource of its namespace that names it. */
export function changesFor(
  resources: readonly Sighting[],
  change: Change<Sighting>,
): readonly Change<Sighting>[] {
  const { namespace, name, kind } = change.is === 'gone' ? change.before : change.now;
  return resources
    .filter((one) => one.namespace === namespace && one.names?.[kind]?.includes(name) === true)
    .map((one) => {
      const owner = { namespace, name: one.name };
      return change.is === 'gone'
        ? { ...change, before: { ...change.before, owner } }
        : { ...change, now: { ...change.now, owner } };
    });
}
