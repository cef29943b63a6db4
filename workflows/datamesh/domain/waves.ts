import { isVoter, STATE_FACTS, type MemberState } from './member-states.ts';
import type { Mesh } from './mesh.ts';
import type { Arrow } from './paths.ts';

/**
 * What must happen around an arrow that gives or takes a vote while a tie-breaker is there. Else one voter
 * still breaks a tie while another already counts the new vote, and two halves serve at once.
 */
export type Wave =
  | { readonly kind: 'none' }
  /** The subject has no disk: all peers count it as one more tie-breaker before any counts it otherwise. */
  | { readonly kind: 'vestibule' }
  /** All peers stop counting the tie-breakers before the arrow and count them again after it. */
  | { readonly kind: 'pause'; readonly tiebreakers: readonly string[] };

/** The wave that an arrow of this member needs. */
export function selectWave(mesh: Mesh, member: string, arrow: Arrow): Wave {
  const tiebreakers = mesh.members
    .filter((one) => one.type === 'TB' && one.name !== member)
    .map((one) => one.name);
  const gains = isVoter(arrow.to) && !isVoter(arrow.from);
  const loses = isVoter(arrow.from) && !isVoter(arrow.to);
  if (tiebreakers.length === 0 || (!gains && !loses)) return { kind: 'none' };
  if (arrow.q !== null) return { kind: 'pause', tiebreakers };
  const hasDisk = (state: MemberState): boolean => STATE_FACTS[state].disk;
  if (hasDisk(arrow.from) || hasDisk(arrow.to)) return { kind: 'pause', tiebreakers };
  // A tie-breaker that becomes a voter, or the reverse, is on one side of any cut: nothing to bridge.
  const other = gains ? arrow.from : arrow.to;
  return other === 'TB' ? { kind: 'none' } : { kind: 'vestibule' };
}
