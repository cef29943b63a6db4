import { isVoter, STATE_FACTS, type MemberState } from './member-states.ts';
import { votersOf, type Mesh } from './mesh.ts';
import type { Arrow } from './paths.ts';

/**
 * What must happen around an arrow that gives or takes a vote while a tie-breaker is there. Else one voter
 * still breaks a tie while another already counts the new vote, and two halves serve at once.
 */
export type Wave =
  | { readonly kind: 'none' }
  /**
   * The subject has no disk: all peers count it as one more tie-breaker before any counts it otherwise. Beside more than
   * one tie-breaker the others would be a majority without it, so all but one are not counted meanwhile.
   */
  | { readonly kind: 'vestibule'; readonly hidden: readonly string[] }
  /** The vote moves with a disk: the disk is detached, and then it is the vestibule. */
  | { readonly kind: 'detached' }
  /** All peers stop counting these tie-breakers before the arrow and count them again after it. */
  | { readonly kind: 'pause'; readonly tiebreakers: readonly string[] };

/** The wave that an arrow of this member needs. */
export function selectWave(mesh: Mesh, member: string, arrow: Arrow): Wave {
  const tiebreakers = mesh.members
    .filter((one) => one.type === 'TB' && one.name !== member)
    .map((one) => one.name);
  const gains = isVoter(arrow.to) && !isVoter(arrow.from);
  const loses = isVoter(arrow.from) && !isVoter(arrow.to);
  if (tiebreakers.length === 0) return { kind: 'none' };
  if (!gains && !loses) return exposesTie(mesh, arrow) ? { kind: 'pause', tiebreakers } : { kind: 'none' };
  if (arrow.q !== null) return { kind: 'pause', tiebreakers };
  const hasDisk = (state: MemberState): boolean => STATE_FACTS[state].disk;
  if (hasDisk(arrow.from) || hasDisk(arrow.to)) return { kind: 'detached' };
  // Two tie-breakers break a tie only together; with a third, the others could without the subject.
  const spare = tiebreakers.slice(1);
  const other = gains ? arrow.from : arrow.to;
  if (other !== 'TB') return { kind: 'vestibule', hidden: spare };
  // A tie-breaker that becomes a voter, or the reverse, is on one side of any cut, and beside one other needed on it.
  return spare.length === 0 ? { kind: 'none' } : { kind: 'pause', tiebreakers: spare };
}

/**
 * A voter whose disk comes or goes has a vote and no copy, and a tie is broken without asking for qmr: half of the votes
 * would do with one copy fewer than it promises.
 */
function exposesTie(mesh: Mesh, arrow: Arrow): boolean {
  const voters = votersOf(mesh.members);
  const moves = isVoter(arrow.from) && STATE_FACTS[arrow.from].disk !== STATE_FACTS[arrow.to].disk;
  return moves && voters % 2 === 0 && mesh.qmr > Math.max(1, voters / 2 - 1);
}
