import type { ResourceRef } from '../workflows/shared/messages.ts';
import type { Change } from './informer.ts';
import { judgeNews } from './sighting.ts';
import type { News, Sighting } from './sighting.ts';
import { FINALIZER } from './watch-definition.ts';

/** What an object is to its entity. */
export type Role = 'primary' | 'wish' | 'part';

/** How a hint is sent: starting the entity if need be, or only to one that runs. */
export type Delivery = 'start' | 'signal';

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

/** Whether a change is news for its entity, and how it travels. `ownerKnown` says whether the primary resource exists. */
export function decideTrigger(
  role: Role,
  change: Change<Sighting>,
  ownerKnown: (owner: ResourceRef) => boolean,
): TriggerDecision {
  return change.is === 'gone' ? decideGone(role, change.before) : decideSeen(role, change, ownerKnown);
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
  ownerKnown: (owner: ResourceRef) => boolean,
): TriggerDecision {
  const { now, before, resync } = change;
  const news = judgeNews(before, now);
  // A list wakes every resource, but not once more for each of its parts.
  const wakes = role === 'part' ? news !== 'none' && !(resync && before === null) : news !== 'none' || resync;
  const ours = now.finalizers.includes(FINALIZER);
  if (now.problem !== null && !(now.deleting && ours)) {
    return wakes && role !== 'part' ? { is: 'report', news, problem: now.problem } : { is: 'drop', news };
  }
  if (!wakes || now.owner === null) return { is: 'drop', news };
  return {
    is: 'hint',
    news,
    owner: now.owner,
    slot: slotOf(role, now),
    urgent: role !== 'part' && (news === 'created' || news === 'generation' || news === 'deletion'),
    delivery: mayStart(role, now, ownerKnown(now.owner)) ? 'start' : 'signal',
  };
}

/** Parts only wake; what is being deleted without our finalizer was never ours, or is ours no longer. */
function mayStart(role: Role, now: Sighting, ownerIsKnown: boolean): boolean {
  if (role === 'part') return false;
  if (role === 'wish') return ownerIsKnown;
  return !now.deleting || now.finalizers.includes(FINALIZER);
}

const slotOf = (role: Role, sighting: Sighting): string =>
  role === 'part' ? 'part' : `${sighting.kind}/${sighting.namespace}/${sighting.name}`;
