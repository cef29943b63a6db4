import type { Kernel } from './kernels.ts';
import { isVoter, type MemberState } from './member-states.ts';
import type { Mesh as ConfigMesh } from './node-config.ts';
import type { Configuration, Member, Observed } from './observed.ts';

/** The datamesh at one point of a plan: what was observed, as the steps so far have changed it. */
export interface Mesh {
  readonly kernel: Kernel;
  readonly q: number;
  readonly qmr: number;
  readonly configuration: Configuration;
  readonly members: readonly Member[];
}

/** The mesh that a plan starts from. */
export const meshOf = (observed: Observed): Mesh => ({
  kernel: observed.kernel,
  q: observed.q,
  qmr: observed.qmr,
  configuration: observed.configuration,
  members: observed.members,
});

export const votersOf = (members: readonly Member[]): number =>
  members.filter((member) => isVoter(member.type)).length;
export const countOf = (members: readonly Member[], type: MemberState): number =>
  members.filter((member) => member.type === type).length;
/** Voters that hold all acknowledged data. */
export const upToDateVoters = (members: readonly Member[]): readonly Member[] =>
  members.filter((member) => member.type === 'D' && member.upToDate);

/** A member that is known to be there. */
export function memberOf(mesh: Mesh, name: string): Member {
  const found = mesh.members.find((member) => member.name === name);
  if (found === undefined) throw new Error(`${name} is no member`);
  return found;
}

/** The same mesh with one member in another state: joined from ✦, gone to ✕, or retyped. */
export function withMember(mesh: Mesh, subject: Member, state: MemberState): Mesh {
  const others = mesh.members.filter((member) => member.name !== subject.name);
  if (state === '✕' || state === '✦') return { ...mesh, members: others };
  const upToDate = state === 'D' || state === 'sD';
  const next = { ...subject, type: state, upToDate };
  const members = mesh.members.some((member) => member.name === subject.name)
    ? mesh.members.map((member) => (member.name === subject.name ? next : member))
    : [...others, next];
  return { ...mesh, members };
}

/** How the members are shown to each other, with exceptions that last for one step. */
export function presentedMesh(mesh: Mesh, shown: Readonly<Record<string, 'TB' | 'A'>> = {}): ConfigMesh {
  return {
    kernel: mesh.kernel,
    q: mesh.q,
    qmr: mesh.qmr,
    members: mesh.members.map((member) => {
      const shownAs = shown[member.name];
      const base = { name: member.name, node: member.node, state: member.type };
      return shownAs === undefined ? base : { ...base, shownAs };
    }),
  };
}
