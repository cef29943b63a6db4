import type { Mutation } from '../../activities/mutations.ts';
import type { Random } from '../simulation/engine/random.ts';

/** When, around what an activity does, the worker dies. */
export type Moment = 'before request' | 'after request' | 'before result' | 'while waiting';

/** One place in one run at which the worker can die. */
export interface Hit {
  /** What makes hits alike: the activity, the moment and the kind of request, but no shard, ordinal or name. */
  readonly class: string;
  /** Tells this hit from the others of its class; an attempt that is repeated hits the same place again. */
  readonly key: string;
}

/** A place to kill the worker at: the nth distinct hit of a class, counted over the whole run. */
export interface Point {
  readonly class: string;
  readonly occurrence: number;
}

/** Where an activity runs, as its context knows it. */
export interface Place {
  readonly workflowId: string;
  readonly activityType: string;
  readonly activityId: string;
}

/** Names a place: which activity of which workflow, at which request, at which moment. */
export function hitAt(
  place: Place,
  moment: Moment,
  request?: { readonly index: number; readonly mutation: Mutation },
): Hit {
  const scope = scopeOf(place.workflowId);
  const does =
    request === undefined
      ? ''
      : ` ${request.mutation.system} ${request.mutation.verb} ${kindOf(request.mutation.target)}`;
  return {
    class: `${scope} ${place.activityType}: ${moment}${does}`,
    key: `${place.workflowId} ${place.activityId} ${moment} ${request?.index ?? 0}`,
  };
}

/** The operation's name for a child, `entity` for the entity itself. */
const scopeOf = (workflowId: string): string => workflowId.split('/')[3] ?? 'entity';

/** `StatefulSet/cache-2` and `StatefulSet/cache-10` are of one kind; so are two addresses. */
const kindOf = (target: string): string =>
  (target.split('/')[0] ?? target).replaceAll(/[0-9a-f]*[0-9][0-9a-f.:-]*/g, 'N');

/** The hits of a recorded run, in order, by class. */
export function classesOf(hits: readonly Hit[]): ReadonlyMap<string, number> {
  const seen = new Map<string, Set<string>>();
  for (const hit of hits) {
    const keys = seen.get(hit.class) ?? new Set<string>();
    seen.set(hit.class, keys.add(hit.key));
  }
  return new Map([...seen].map(([name, keys]) => [name, keys.size]));
}

/**
 * Of each class the first and the last place; of two recordings the smaller count, so that a point is surely hit. How
 * often a request was refused before it was taken depends on timing: only those that were taken are counted.
 */
export function selectPoints(recordings: readonly (readonly Hit[])[]): readonly Point[] {
  const first = recordings[0] ?? [];
  const counts = recordings.map((hits) => takenOf(classesOf(hits)));
  const order = [...new Set(first.map((hit) => hit.class))];
  return order
    .flatMap((name) => {
      const count = Math.min(...counts.map((one) => one.get(name) ?? 0));
      if (count === 0) return [];
      return count === 1
        ? [{ class: name, occurrence: 1 }]
        : [
            { class: name, occurrence: 1 },
            { class: name, occurrence: count },
          ];
    })
    .sort((a, b) => position(first, a) - position(first, b));
}

/** Counts no more places before a request than after it, where it was taken at all. */
const takenOf = (counts: ReadonlyMap<string, number>): ReadonlyMap<string, number> =>
  new Map(
    [...counts].map(([name, count]) => [
      name,
      Math.min(count, counts.get(name.replace(': before request', ': after request')) ?? count),
    ]),
  );

/** Where in a recorded run a point lies, so that points of one run can be armed one after the other. */
export function position(hits: readonly Hit[], point: Point): number {
  const keys = new Set<string>();
  for (const [at, hit] of hits.entries()) {
    if (hit.class !== point.class) continue;
    keys.add(hit.key);
    if (keys.size === point.occurrence) return at;
  }
  return hits.length;
}

/** Classes that only some recordings have: they depend on timing and are listed as skipped. */
export function unsteadyClasses(recordings: readonly (readonly Hit[])[]): readonly string[] {
  const counts = recordings.map(classesOf);
  const all = new Set(counts.flatMap((one) => [...one.keys()]));
  return [...all].filter((name) => counts.some((one) => !one.has(name))).sort();
}

/** Puts points into runs: up to `chained` kills in one run, in order; what cannot be undone gets a run of its own. */
export function scheduleRuns(
  points: readonly Point[],
  chained: number,
  alone: readonly RegExp[],
  random: Random,
): readonly (readonly Point[])[] {
  const isAlone = (point: Point): boolean => alone.some((pattern) => pattern.test(point.class));
  const together = points.filter((point) => !isAlone(point));
  const count = Math.ceil(together.length / chained);
  // Dealt out like cards, round after round, so that the kills of one run lie far apart; who is first is drawn.
  const dealt: Point[][] = Array.from({ length: count }, () => []);
  for (let at = 0; at < together.length; at += count) {
    const hands = shuffled(dealt, random);
    together.slice(at, at + count).forEach((point, hand) => hands[hand]?.push(point));
  }
  return [...dealt, ...points.filter(isAlone).map((point) => [point])];
}

function shuffled<T>(items: readonly T[], random: Random): readonly T[] {
  const drawn = items.map((item) => ({ item, order: random.next() }));
  return drawn.sort((a, b) => a.order - b.order).map(({ item }) => item);
}

export const describePoint = (point: Point): string => `${point.class} #${point.occurrence}`;
