import { attachedTarget, isLeaving, newcomers, replicaOf, staying, type Composition } from './composition.ts';
import { judgeGuards } from './guards.ts';
import { KERNEL_FACTS } from './kernels.ts';
import { isMemberType, STATE_FACTS, type MemberType } from './member-states.ts';
import { countOf, upToDateVoters, votersOf } from './mesh.ts';
import type { Intent, Member } from './observed.ts';

/** Candidates for the next intent, best first; the planner takes the first that is not already blocked. */
export function deriveManaged(at: Composition): readonly Intent[] {
  // qmr falls before a copy leaves or a tie-breaker comes, and rises when the tie-breaker has gone: breaking a tie
  // does not ask for qmr.
  const rules = [
    lost,
    lowerRedundancy,
    addDiskful,
    addTiebreaker,
    removeTiebreakers,
    removeDiskful,
    raiseRedundancy,
    others,
  ];
  return rules.flatMap((rule) => rule(at));
}

const add = (member: string, type: MemberType, node: string, zone: string): Intent => ({
  op: 'AddMember',
  member,
  type,
  node,
  zone,
});
const change = (member: Member, to: MemberType): Intent => ({
  op: 'ChangeMemberType',
  member: member.name,
  from: member.type,
  to,
});

/** A replica that the scheduler must still place: named, so that the plan can be read before it is. */
function unscheduled(at: Composition, type: MemberType): Intent {
  const used = new Set(at.mesh.members.map((member) => member.name));
  let number = 1;
  while (used.has(`unscheduled-${number}`)) number += 1;
  const name = `unscheduled-${number}`;
  return add(
    name,
    type,
    name,
    at.mesh.configuration.topology === 'TransZonal' ? name : (at.mesh.members[0]?.zone ?? ''),
  );
}

/** A member whose replica no longer exists is lost: the survivors forget it first, or nothing could confirm. */
function lost(at: Composition): readonly Intent[] {
  if (at.replicas === null) return [];
  return at.mesh.members
    .filter((member) => replicaOf(at, member.name) === undefined && !member.name.startsWith('unscheduled-'))
    .map((member): Intent =>
      (member.connectedTo ?? []).length > 0
        ? { op: 'RemoveMember', member: member.name }
        : { op: 'ForceRemove', member: member.name },
    );
}

/** One more Diskful: a new replica, a member that wants it or is attached without data, the tie-breaker's node, or a new node. */
function addDiskful(at: Composition): readonly Intent[] {
  const { mesh, layout } = at;
  const wantsLocal = mesh.configuration.volumeAccess === 'EventuallyLocal';
  const local = mesh.members
    .filter((member) => wantsLocal && member.attached && member.type === 'A')
    .map((member) => change(member, 'D'));
  if (staying(at, 'D').length >= layout.diskful) return local;
  const fresh = newcomers(at, 'D').map((replica) => add(replica.name, 'D', replica.node, replica.zone));
  const wanting = mesh.members
    .filter(
      (member) =>
        member.type !== 'D' &&
        replicaOf(at, member.name)?.wants === 'D' &&
        replicaOf(at, member.name)?.deleting === false,
    )
    .map((member) => change(member, 'D'));
  const shadows = staying(at, 'sD').map((member) => change(member, 'D'));
  // A tie-breaker that becomes a voter at once needs no other node; through a shadow the tie would be open meanwhile.
  const spare =
    layout.tiebreakers === 0 && votersOf(mesh.members) % 2 === 0 && !KERNEL_FACTS[mesh.kernel].shadow;
  const ties = spare ? staying(at, 'TB').map((member) => change(member, 'D')) : [];
  return [...local, ...fresh, ...wanting, ...shadows, ...ties, unscheduled(at, 'D')].slice(0, 1);
}

function raiseRedundancy(at: Composition): readonly Intent[] {
  const { mesh, layout } = at;
  const ready = upToDateVoters(mesh.members).length >= layout.diskful;
  return mesh.qmr < layout.qmr && ready ? [{ op: 'ChangeQuorum', q: mesh.q, qmr: layout.qmr }] : [];
}

/** One more tie-breaker: a new replica, a member that wants it, a Diskful too many, or a new node. */
function addTiebreaker(at: Composition): readonly Intent[] {
  const { mesh, layout } = at;
  if (staying(at, 'TB').length >= layout.tiebreakers) return [];
  const fresh = newcomers(at, 'TB').map((replica) => add(replica.name, 'TB', replica.node, replica.zone));
  const wanting = mesh.members
    .filter(
      (member) =>
        member.type !== 'TB' &&
        replicaOf(at, member.name)?.wants === 'TB' &&
        replicaOf(at, member.name)?.deleting === false,
    )
    .filter((member) => member.type !== 'D' || votersOf(mesh.members) > layout.diskful)
    .map((member) => change(member, 'TB'));
  const surplus =
    votersOf(mesh.members) > layout.diskful
      ? selectSurplus(at)
          .filter((member) => !isDeleting(at, member))
          .map((member) => change(member, 'TB'))
      : [];
  if (fresh.length + wanting.length === 0 && surplus.length > 0) return surplus.slice(0, 1);
  return [...fresh, ...wanting, unscheduled(at, 'TB')].slice(0, 1);
}

/** qmr falls before a copy leaves. */
function lowerRedundancy(at: Composition): readonly Intent[] {
  const { mesh, layout } = at;
  return mesh.qmr > layout.qmr ? [{ op: 'ChangeQuorum', q: mesh.q, qmr: layout.qmr }] : [];
}

function removeTiebreakers(at: Composition): readonly Intent[] {
  const { mesh, layout } = at;
  if (countOf(mesh.members, 'TB') <= layout.tiebreakers) return [];
  const ties = mesh.members.filter((member) => member.type === 'TB');
  return [...ties]
    .sort((a, b) => Number(isLeaving(at, b)) - Number(isLeaving(at, a)) || (a.name < b.name ? 1 : -1))
    .slice(0, 1)
    .map((member) => leave(at, member));
}

function removeDiskful(at: Composition): readonly Intent[] {
  const { mesh, layout } = at;
  if (votersOf(mesh.members) <= layout.diskful) return [];
  return selectSurplus(at)
    .slice(0, 1)
    .map((member) => leave(at, member));
}

const isDeleting = (at: Composition, member: Member): boolean =>
  replicaOf(at, member.name)?.deleting === true;

/** The Diskful that leaves: one that is to go, then one that nothing holds back, not attached, the last by name. */
function selectSurplus(at: Composition): readonly Member[] {
  const blocked = (member: Member): number =>
    judgeGuards({ mesh: at.mesh, op: 'RemoveMember', subject: member, from: 'D', to: '✕', active: [] })
      .length;
  const rank = (member: Member): number =>
    (isLeaving(at, member) ? 0 : 100) +
    (member.upToDate ? 10 : 0) +
    (member.attached ? 5 : 0) +
    (blocked(member) > 0 ? 1 : 0);
  return at.mesh.members
    .filter((member) => member.type === 'D')
    .sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? 1 : -1));
}

/** Removes a member, or retypes it to what its replica wants or to what an attached member becomes. */
function leave(at: Composition, member: Member): Intent {
  const replica = replicaOf(at, member.name);
  if (replica !== undefined && !replica.deleting && replica.wants !== member.type)
    return change(member, replica.wants);
  const target = member.attached ? attachedTarget(at.mesh, member) : null;
  return target === null ? { op: 'RemoveMember', member: member.name } : change(member, target);
}

/** What does not touch the layout: clients and shadows that come, go or change between each other. */
function others(at: Composition): readonly Intent[] {
  const shadow = KERNEL_FACTS[at.mesh.kernel].shadow;
  const types: readonly MemberType[] = shadow ? ['A', 'sD'] : ['A'];
  const fresh = types.flatMap((type) =>
    newcomers(at, type).map((replica) => add(replica.name, type, replica.node, replica.zone)),
  );
  const moved = at.mesh.members
    .filter((member) => types.some((type) => type === member.type) && isLeaving(at, member))
    .filter(
      (member) => isDeleting(at, member) || types.some((type) => type === replicaOf(at, member.name)?.wants),
    )
    // What the attached-member strategy has retyped stays and serves, until it is detached.
    .filter((member) => !(member.attached && replicaOf(at, member.name)?.wants !== member.type))
    .map((member) => leave(at, member));
  return [...fresh, ...moved];
}

/** Members in a transitional state that nothing moves: to what their replica wants, else back. */
export function deriveHome(at: Composition): readonly Intent[] {
  return at.mesh.members
    .filter((member) => STATE_FACTS[member.type].transitional)
    .flatMap((member): readonly Intent[] => {
      const replica = replicaOf(at, member.name);
      const back: Intent = change(member, member.type === 'D∅' ? 'D' : 'sD');
      const wanted: Intent | null =
        replica === undefined
          ? null
          : replica.deleting
            ? { op: 'RemoveMember', member: member.name }
            : isMemberType(replica.wants)
              ? change(member, replica.wants)
              : null;
      return wanted === null ? [back] : [wanted, back];
    });
}

/** Manual mode: replicas are followed as they are; only q, which the paths compute, and qmr are managed. */
export function deriveManual(at: Composition): readonly Intent[] {
  const { mesh } = at;
  const joins = (['D', 'sD', 'TB', 'A'] as const).flatMap((type) =>
    newcomers(at, type).map((replica) => add(replica.name, type, replica.node, replica.zone)),
  );
  const moves = mesh.members
    .filter((member) => isLeaving(at, member))
    .map((member): Intent => {
      const replica = replicaOf(at, member.name);
      return replica === undefined || replica.deleting
        ? { op: 'RemoveMember', member: member.name }
        : change(member, replica.wants);
    });
  const qmr = Math.min(mesh.configuration.gmdr + 1, Math.max(1, upToDateVoters(mesh.members).length));
  const quorum: readonly Intent[] =
    qmr === mesh.qmr || votersOf(mesh.members) === 0 ? [] : [{ op: 'ChangeQuorum', q: mesh.q, qmr }];
  return [...lost(at), ...(qmr < mesh.qmr ? quorum : []), ...joins, ...moves, ...quorum];
}
