import type { ResourceRef } from '../workflows/shared/messages.ts';
import type { Change } from './informer.ts';
import { judgeNews } from './sighting.ts';
import type { News, Sighting } from './sighting.ts';
import { FINALIZER } from './watch-definition.ts';

/** What an object is to its entity. */
export type Role = 'primary' | 'wish' | 'part';

/** How a hint is sent: starting the entity if need be, or only to one that runs. */
export type Delivery = 'start' | 'signal';

/** Whether the primary resource exists; before its first list nobody can be sure. */
export type Existence = 'there' | 'absent' | 'unsure';

/** What follows from a change. */
export type TriggerDecision =
  | { readonly is: 'drop'; readonly news: News }
  | { readonly is: 'report'; readonly news: News; readonly problem: string }
  | {
      readonly is: 'hint';
      readonly news: News | 'gone';
      readonly owner: ResourceRef;
      readonly slot: string;
      readonly urgent: boolean;
      readonly delivery: Delivery;
    };

/** Whether a change is news for its entity, and how it travels. `existence` tells whether the primary resource is there. */
export function decideTrigger(
  role: Role,
  change: Change<Sighting>,
  existence: (owner: ResourceRef) => Existence,
): TriggerDecision {
  return change.is === 'gone' ? decideGone(role, change.before) : decideSeen(role, change, existence);
}

/** What is gone may end or wake an entity, but starting one for it would make a ghost. */
function decideGone(role: Role, before: Sighting): TriggerDecision {
  if (before.owner === null) return { is: 'drop', news: 'none' };
  const slot = slotOf(role, before);
  return {
    is: 'hint',
    news: 'gone',
    owner: before.owner,
    slot,
    urgent: role !== 'part',
    delivery: 'signal',
  };
}

function decideSeen(
  role: Role,
  change: Extract<Change<Sighting>, { is: 'seen' }>,
  existence: (owner: ResourceRef) => Existence,
): TriggerDecision {
  const { now, before, resync } = change;
  const news = judgeNews(before, now);
  // A list wakes every resource, but not once more for each of its parts.
  const wakes = role === 'part' ? news !== 'none' && !(resync && before === null) : news !== 'none' || resync;
  const owner = now.owner === null ? 'absent' : existence(now.owner);
  const problem = problemOf(role, now, owner);
  if (problem !== null)
    return wakes && role !== 'part' ? { is: 'report', news, problem } : { is: 'drop', news };
  if (!wakes || now.owner === null) return { is: 'drop', news };
  return {
    is: 'hint',
    news,
    owner: now.owner,
    slot: slotOf(role, now),
    urgent: role !== 'part' && (news === 'created' || news === 'generation' || news === 'deletion'),
    delivery: mayStart(role, now, owner) ? 'start' : 'signal',
  };
}

/** Why it cannot be handed over. What carries our finalizer must be cleaned up, whatever it has become. */
function problemOf(role: Role, now: Sighting, owner: Existence): string | null {
  if (now.deleting && now.finalizers.includes(FINALIZER)) return null;
  if (now.problem !== null) return now.problem;
  if (role !== 'wish' || owner !== 'absent' || now.owner === null) return null;
  const { namespace, name } = now.owner;
  return `There is no resource ${namespace}/${name} that it could be for: create that, or correct the reference.`;
}

/** Parts only wake; what is being deleted without our finalizer was never ours, or is ours no longer. */
function mayStart(role: Role, now: Sighting, owner: Existence): boolean {
  if (role === 'part') return false;
  if (role === 'wish') return owner === 'there';
  return !now.deleting || now.finalizers.includes(FINALIZER);
}

const slotOf = (role: Role, sighting: Sighting): string =>
  role === 'part' ? 'part' : `${sighting.kind}/${sighting.namespace}/${sighting.name}`;
