import type { Transition, TransitionTable } from '../../shared/transitions.ts';

export const PHASES = [
  'Pending',
  'Serving',
  'Preparing',
  'FailingOver',
  'Retiring',
  'Silent',
  'Unserved',
  'Failed',
] as const;
export const EVENTS = [
  'ServingObserved',
  'SilenceObserved',
  'PrimaryMissing',
  'PreparationBegan',
  'ReplicaReady',
  'FailOverBegan',
  'PromotionCommitted',
  'RetirementBegan',
  'RetirementDone',
  'WishChanged',
  'Failure',
  'Recovered',
] as const;

export type Phase = (typeof PHASES)[number];
export type Event = (typeof EVENTS)[number];

type OurRow = Transition<Phase, Event> & { readonly why: string };

const rows = (from: readonly Phase[], event: Event, to: Phase | null, why: string): readonly OurRow[] =>
  from.map((phase) => ({ from: phase, event, to: to ?? phase, why }));

const WORKING: readonly Phase[] = ['Preparing', 'FailingOver', 'Retiring'];
const RESTING: readonly Phase[] = ['Pending', 'Serving', 'Silent', 'Unserved'];
const EVERY: readonly Phase[] = [...RESTING, ...WORKING];

/** What an agent as a whole goes through; the specification speaks of its instances only, so every row is ours. */
export const PHASE_TABLE: TransitionTable<Phase, Event> & { readonly ours: readonly OurRow[] } = {
  phases: PHASES,
  events: EVENTS,
  specification: [],
  ours: [
    ...rows(EVERY, 'ServingObserved', 'Serving', 'One PRIMARY serves, and nothing is to be done.'),
    ...rows(EVERY, 'SilenceObserved', 'Silent', 'No heartbeat for two minutes, and EC2 says that it runs.'),
    ...rows(
      EVERY,
      'PrimaryMissing',
      'Unserved',
      'The PRIMARY is gone or going, and nothing can replace it yet.',
    ),
    ...rows(EVERY, 'PreparationBegan', 'Preparing', 'A replica is launched and waited for.'),
    ...rows(['Preparing'], 'ReplicaReady', 'Serving', 'A replica says that it is ready.'),
    ...rows(EVERY, 'FailOverBegan', 'FailingOver', 'A replica is about to be promoted.'),
    ...rows(['FailingOver'], 'PromotionCommitted', 'Serving', 'The database has the new PRIMARY.'),
    ...rows(EVERY, 'RetirementBegan', 'Retiring', 'Instances that were replaced or leaked are ended.'),
    ...rows(['Retiring'], 'RetirementDone', 'Serving', 'EC2 has confirmed their end.'),
    ...rows(EVERY, 'WishChanged', null, 'A notice or a changed configuration is planned next.'),
    ...rows(EVERY, 'Failure', 'Failed', 'A person has to act.'),
    ...rows(['Failed'], 'Recovered', 'Pending', 'A person asked to try again, or the cause is gone.'),
    ...rows(EVERY, 'Recovered', 'Pending', 'What was interrupted goes on from what is there.').filter(
      (row) => row.from !== 'Pending',
    ),
    ...rows(['Pending'], 'Recovered', null, 'Nothing was begun yet.'),
  ],
};
