import { quorumOf } from './layouts.ts';
import { isVoter } from './member-states.ts';
import { votersOf } from './mesh.ts';
import type { Member } from './observed.ts';

/** What is left when a zone is lost at once. */
export interface ZoneLoss {
  readonly zone: string;
  readonly voters: number;
  readonly upToDate: number;
  readonly quorate: boolean;
}

/**
 * Whether the rest keeps quorum, by the kernel's own rule: a tie is broken only among an even number of voters,
 * one vote short, and by a majority of all tie-breakers.
 */
export function keepsQuorum(members: readonly Member[], lost: (member: Member) => boolean): boolean {
  const voters = votersOf(members);
  const q = quorumOf(voters);
  const rest = members.filter((member) => !lost(member));
  const left = votersOf(rest);
  if (left >= q) return true;
  const ties = members.filter((member) => member.type === 'TB').length;
  const tiesLeft = rest.filter((member) => member.type === 'TB').length;
  return voters % 2 === 0 && left === q - 1 && left > 0 && tiesLeft >= quorumOf(ties);
}

/** The loss of each zone, in the zones' order by name. */
export function zoneLosses(members: readonly Member[]): readonly ZoneLoss[] {
  const zones = [...new Set(members.map((member) => member.zone))].sort();
  return zones.map((zone) => {
    const rest = members.filter((member) => member.zone !== zone);
    return {
      zone,
      voters: rest.filter((member) => isVoter(member.type)).length,
      upToDate: rest.filter((member) => member.type === 'D' && member.upToDate).length,
      quorate: keepsQuorum(members, (member) => member.zone === zone),
    };
  });
}
