import { KERNEL_FACTS } from './kernels.ts';
import type { Layout } from './layouts.ts';
import type { MemberState, MemberType } from './member-states.ts';
import { votersOf, type Mesh } from './mesh.ts';
import type { Member, Replica } from './observed.ts';

/** The members of a mesh against the layout that they are to have. */
export interface Composition {
  readonly mesh: Mesh;
  readonly layout: Layout;
  /** Null when replicas were not observed. */
  readonly replicas: readonly Replica[] | null;
}

export const replicaOf = (at: Composition, name: string): Replica | undefined =>
  at.replicas?.find((replica) => replica.name === name);

/** A member that is to go or to become something else: its replica is being deleted, or wants another type. */
export const isLeaving = (at: Composition, member: Member): boolean => {
  const replica = replicaOf(at, member.name);
  return replica !== undefined && (replica.deleting || replica.wants !== member.type);
};

/** Members of a type that are to stay what they are. */
export const staying = (at: Composition, type: MemberState): readonly Member[] =>
  at.mesh.members.filter((member) => member.type === type && !isLeaving(at, member));

/** Replicas that are no members yet and want this type, the best placed first. */
export function newcomers(at: Composition, type: MemberType): readonly Replica[] {
  const joined = new Set(at.mesh.members.map((member) => member.name));
  return (at.replicas ?? [])
    .filter((replica) => !joined.has(replica.name) && !replica.deleting && replica.wants === type)
    .sort((a, b) => byPlacement(at, a, b));
}

/** TransZonal spreads over the zones with the fewest voters, Zonal stays with the most; then by name. */
function byPlacement(at: Composition, a: Replica, b: Replica): number {
  const votersIn = (zone: string): number =>
    votersOf(at.mesh.members.filter((member) => member.zone === zone));
  const { topology } = at.mesh.configuration;
  const spread = topology === 'TransZonal' ? 1 : topology === 'Zonal' ? -1 : 0;
  return spread * (votersIn(a.zone) - votersIn(b.zone)) || (a.name < b.name ? -1 : 1);
}

/** What an attached member becomes in place of being removed; null when there is nothing to become. */
export function attachedTarget(mesh: Mesh, member: Member): MemberType | null {
  if (member.type === 'D') return KERNEL_FACTS[mesh.kernel].shadow ? 'sD' : 'A';
  return member.type === 'A' || member.type === 'sD' ? null : 'A';
}
