import type { MemberState } from './member-states.ts';

/** The specification's groups by what they affect, with Formation and the emergency apart. */
export const GROUPS = ['Voter', 'NonVoter', 'Quorum', 'IO', 'Multiattach', 'Formation', 'Emergency'] as const;
export type Group = (typeof GROUPS)[number];

export type Operation =
  | 'AddMember'
  | 'RemoveMember'
  | 'ChangeMemberType'
  | 'ChangeQuorum'
  | 'ForceRemove'
  | 'Attach'
  | 'Detach'
  | 'EnableMultiattach'
  | 'DisableMultiattach'
  | 'Formation';

/** A transition as far as parallelism is concerned. */
export interface Running {
  readonly op: Operation;
  /** Null for what concerns every member. */
  readonly member: string | null;
  readonly from: MemberState | null;
  readonly to: MemberState | null;
}

/** The group of a transition. */
export function groupOf(running: Running): Group {
  switch (running.op) {
    case 'AddMember':
    case 'RemoveMember':
    case 'ChangeMemberType':
      return [running.from, running.to].some((state) => state === 'D' || state === 'D∅')
        ? 'Voter'
        : 'NonVoter';
    case 'ChangeQuorum':
      return 'Quorum';
    case 'Attach':
    case 'Detach':
      return 'IO';
    case 'EnableMultiattach':
    case 'DisableMultiattach':
      return 'Multiattach';
    case 'Formation':
      return 'Formation';
    case 'ForceRemove':
      return 'Emergency';
  }
}

/** What the groups stand for, for the table in the README. */
export const GROUP_ROWS: readonly (readonly [Group, string, string])[] = [
  ['Voter', 'AddMember(D), RemoveMember(D), ChangeMemberType(X↔D)', 'voter count, q, quorum'],
  [
    'NonVoter',
    'AddMember(A|TB|sD), RemoveMember(A|TB|sD), ChangeMemberType among A/TB/sD',
    'peer topology (non-voter)',
  ],
  ['Quorum', 'ChangeQuorum', 'q, qmr for all members'],
  ['IO', 'Attach, Detach', 'per-member IO state'],
  ['Multiattach', 'EnableMultiattach, DisableMultiattach', 'multiattach for all members'],
  ['Formation', 'the plan that creates a datamesh', 'everything'],
  ['Emergency', 'ForceRemove', 'the member that it removes'],
];

/** A rule forbids two transitions to overlap; `conflict` is asked in both orders. */
export interface ParallelismRule {
  readonly name: string;
  readonly description: string;
  conflict(wanted: Running, active: Running): boolean;
}

const is = (running: Running, ...groups: readonly Group[]): boolean => groups.includes(groupOf(running));
const sameMember = (a: Running, b: Running): boolean => a.member !== null && a.member === b.member;
const membership = (running: Running): boolean => is(running, 'Voter', 'NonVoter');
const touchesTiebreaker = (running: Running): boolean =>
  membership(running) && (running.from === 'TB' || running.to === 'TB');
const emergency = (a: Running, b: Running): boolean => is(a, 'Emergency') || is(b, 'Emergency');

/** The specification's seven rules, then ours: what the model showed to be unsafe, and the emergency's own. */
export const RULES: readonly ParallelismRule[] = [
  {
    name: 'One Voter at a time',
    description:
      'Voter transitions are serialized: they change voter count and q, which must be computed sequentially.',
    conflict: (a, b) => is(a, 'Voter') && is(b, 'Voter'),
  },
  {
    name: 'NonVoter can overlap',
    description: 'Non-voter transitions of different members run in parallel.',
    conflict: () => false,
  },
  {
    name: 'Quorum is exclusive',
    description: 'ChangeQuorum blocks all other transitions (changes q/qmr globally).',
    conflict: (a, b) => (is(a, 'Quorum') || is(b, 'Quorum')) && !emergency(a, b),
  },
  {
    name: 'IO can overlap',
    description: 'Attach and Detach run in parallel with each other and with membership transitions.',
    conflict: (a, b) => is(a, 'IO') && is(b, 'IO') && sameMember(a, b),
  },
  {
    name: 'Multiattach is exclusive with IO',
    description:
      'EnableMultiattach and DisableMultiattach block Attach and Detach, not membership transitions.',
    conflict: (a, b) =>
      (is(a, 'Multiattach') && is(b, 'IO', 'Multiattach')) || (is(a, 'IO') && is(b, 'Multiattach')),
  },
  {
    name: 'Voter blocks NonVoter of same member',
    description: 'One membership transition per member.',
    conflict: (a, b) => membership(a) && membership(b) && sameMember(a, b),
  },
  {
    name: 'Formation is exclusive',
    description: 'Formation blocks all other transitions.',
    conflict: (a, b) => is(a, 'Formation') || is(b, 'Formation'),
  },
];

/** Rules that the specification does not have; the README shows why each is needed. */
export const ADDED_RULES: readonly ParallelismRule[] = [
  {
    name: 'A tie-breaker changes alone',
    description:
      'A transition that adds or removes a tie-breaker overlaps no other membership transition that changes voters or tie-breakers.',
    conflict: (a, b) =>
      (touchesTiebreaker(a) && (touchesTiebreaker(b) || is(b, 'Voter'))) ||
      (touchesTiebreaker(b) && is(a, 'Voter')),
  },
  {
    name: 'One emergency at a time',
    description: 'Two ForceRemoves never overlap: each computes q from the members that the other leaves.',
    conflict: (a, b) => is(a, 'Emergency') && is(b, 'Emergency'),
  },
];

export type Admission =
  | { readonly admitted: true; readonly preempts: readonly Running[] }
  | { readonly admitted: false; readonly rule: string; readonly active: Running };

/**
 * Whether a transition may start beside those that run. An emergency preempts the membership transition
 * of the member that it removes, and nothing else; its guards must have passed before.
 */
export function admit(wanted: Running, active: readonly Running[]): Admission {
  for (const other of active) {
    const rule = [...RULES, ...ADDED_RULES].find((one) => one.conflict(wanted, other));
    if (rule !== undefined) return { admitted: false, rule: rule.name, active: other };
  }
  const preempts = is(wanted, 'Emergency')
    ? active.filter((other) => membership(other) && sameMember(wanted, other))
    : [];
  return { admitted: true, preempts };
}
