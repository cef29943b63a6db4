/** The eight states of a member, in the specification's own notation. */
export const MEMBER_STATES = ['✦', 'A', 'TB', 'D∅', 'D', '✕', 'sD', 'sD∅'] as const;
export type MemberState = (typeof MEMBER_STATES)[number];
/** What a replica may ask to be: the states that are neither transitional nor an end. */
export type MemberType = 'A' | 'TB' | 'D' | 'sD';

/** What the planner must know of a state; every rule below reads these and never the name. */
export interface StateFacts {
  readonly name: string;
  readonly member: boolean;
  /** Counted in `voters`, from which q follows. */
  readonly voter: boolean;
  /** A backing disk is attached now. */
  readonly disk: boolean;
  /** The logical volume is kept, whether attached or not. */
  readonly volume: boolean;
  /** Connects to every member; the others connect to full-mesh members only. */
  readonly fullMesh: boolean;
  /** Peers set allow-remote-read=yes, so that the member counts in their quorum. */
  readonly seen: boolean;
  /** Peers keep a bitmap for it, so that it counts as a disk and not as a client. */
  readonly bitmap: boolean;
  readonly transitional: boolean;
  readonly description: string;
}

const row = (name: string, flags: string, description: string): StateFacts => ({
  name,
  member: flags.includes('m'),
  voter: flags.includes('v'),
  disk: flags.includes('d'),
  volume: flags.includes('l'),
  fullMesh: flags.includes('f'),
  seen: flags.includes('s'),
  bitmap: flags.includes('b'),
  transitional: flags.includes('t'),
  description,
});

/** Each state with its predicates. */
export const STATE_FACTS: Readonly<Record<MemberState, StateFacts>> = {
  '✦': row('New', '', 'Not a member yet; its replica wants to join.'),
  A: row('Access', 'm', 'Diskless, invisible to quorum.'),
  TB: row('TieBreaker', 'ms', 'Diskless, takes part in tie-breaking only.'),
  'D∅': row('LiminalDiskful', 'mvlfsbt', 'A voter whose disk is not attached. Always transitional.'),
  D: row('Diskful', 'mvdlfsb', 'A voter with data.'),
  '✕': row('Deleted', '', 'Has left.'),
  sD: row('ShadowDiskful', 'mdlfb', 'Has data, invisible to quorum (non-voting).'),
  'sD∅': row('LiminalShadowDiskful', 'mlfbt', 'A non-voter whose disk is not attached. Always transitional.'),
};

export const MEMBER_TYPES: readonly MemberType[] = ['A', 'TB', 'D', 'sD'];

/** Whether the text is one of the eight states, character for character. */
export const isMemberState = (text: string): text is MemberState =>
  MEMBER_STATES.some((state) => state === text);

/** Whether the text is a type that a replica may ask for. */
export const isMemberType = (text: string): text is MemberType => MEMBER_TYPES.some((type) => type === text);

export const isVoter = (state: MemberState): boolean => STATE_FACTS[state].voter;
/** Bears data or is about to: what the eight metadata slots of DRBD are needed for. */
export const needsVolume = (state: MemberState): boolean => STATE_FACTS[state].volume;
