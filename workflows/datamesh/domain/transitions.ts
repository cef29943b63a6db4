import { judgeGuards, type GuardFinding } from './guards.ts';
import type { GuardCase } from './guard-rows.ts';
import { KERNEL_FACTS } from './kernels.ts';
import { quorumOf } from './layouts.ts';
import { isVoter, STATE_FACTS, type MemberState, type MemberType } from './member-states.ts';
import { memberOf, votersOf, withMember, type Mesh } from './mesh.ts';
import type { Intent, Member } from './observed.ts';
import { groupOf, type Group, type Operation, type Running } from './parallelism.ts';
import { selectPath, type Arrow, type MembershipOp } from './paths.ts';
import { RefusedInput } from './refusal.ts';
import { selectQuorumOrder } from './quorum-orders.ts';
import { expandArrows } from './arrow-steps.ts';
import { buildStep, type Expansion, type PlannedStep } from './steps.ts';

/** A transition, planned: its plan's name, its steps, what it leaves, and what its guards say. */
export interface PlannedTransition {
  readonly op: Operation;
  readonly member: string | null;
  readonly node: string | null;
  readonly from: MemberState | null;
  readonly to: MemberState | null;
  readonly plan: string;
  readonly parallelism: Group;
  readonly steps: readonly PlannedStep[];
  readonly findings: readonly GuardFinding[];
  readonly mesh: Mesh;
}

interface MoveOf {
  readonly op: MembershipOp;
  readonly subject: Member;
  readonly from: MemberState;
  readonly to: MemberType | '✕';
}

/** Plans one intent in a mesh, with the guards asked on that mesh. */
export function planTransition(
  mesh: Mesh,
  intent: Intent,
  active: readonly Running[] = [],
  without: readonly string[] = [],
): PlannedTransition {
  switch (intent.op) {
    case 'AddMember': {
      const { type, member, node, zone } = intent;
      const subject = { name: member, type: '✦' as const, node, zone, upToDate: false, attached: false };
      return planMove(mesh, { op: 'AddMember', subject, from: '✦', to: type }, active, without);
    }
    case 'RemoveMember': {
      const subject = memberOf(mesh, intent.member);
      return planMove(mesh, { op: 'RemoveMember', subject, from: subject.type, to: '✕' }, active, without);
    }
    case 'ChangeMemberType': {
      const subject = memberOf(mesh, intent.member);
      if (subject.type !== intent.from)
        throw new RefusedInput(`${subject.name} is ${subject.type}, not ${intent.from}`);
      return planMove(
        mesh,
        { op: 'ChangeMemberType', subject, from: subject.type, to: intent.to },
        active,
        without,
      );
    }
    case 'ChangeQuorum':
      return planQuorum(mesh, intent.q, intent.qmr);
    case 'ForceRemove':
      return planForceRemove(mesh, memberOf(mesh, intent.member), active, without);
  }
}

function planMove(
  mesh: Mesh,
  move: MoveOf,
  active: readonly Running[],
  without: readonly string[],
): PlannedTransition {
  const { arrows, plan } = selectArrows(mesh, move);
  const { steps, mesh: after } = expandArrows(mesh, move.subject, arrows);
  const input: GuardCase = { mesh, op: move.op, subject: move.subject, from: move.from, to: move.to, active };
  const running: Running = { op: move.op, member: move.subject.name, from: move.from, to: move.to };
  return {
    op: move.op,
    member: move.subject.name,
    node: move.subject.node,
    from: move.from,
    to: move.to,
    plan,
    parallelism: groupOf(running),
    steps,
    findings: judgeGuards(input, without),
    mesh: after,
  };
}

/** The arrows of the specification's row; from a transitional state, what is left of one. */
function selectArrows(
  mesh: Mesh,
  move: MoveOf,
): { readonly arrows: readonly Arrow[]; readonly plan: string } {
  const flant = KERNEL_FACTS[mesh.kernel].shadow;
  const voters = votersOf(mesh.members);
  const home = homeOf(move.from);
  if (home === null) {
    const path = selectPath(move, flant, voters);
    if (path === null) throw new RefusedInput(refusal(mesh, move));
    return { arrows: path.arrows, plan: path.plan };
  }
  const attach: Arrow = { from: move.from, to: home, q: null };
  if (move.to === home) return { arrows: [attach], plan: `home-to-${home.toLowerCase()}/v1` };
  const path = selectPath({ ...move, from: home }, flant, voters);
  if (path === null) throw new RefusedInput(refusal(mesh, move));
  const at = path.arrows.findIndex((arrow) => arrow.from === move.from);
  const arrows = at >= 0 ? path.arrows.slice(at) : [attach, ...path.arrows];
  return { arrows, plan: path.plan };
}

/** Where a transitional state belongs when nothing else is wanted: attaching again is always safe. */
export const homeOf = (state: MemberState): 'D' | 'sD' | null =>
  STATE_FACTS[state].transitional ? (isVoter(state) ? 'D' : 'sD') : null;

const refusal = (mesh: Mesh, move: MoveOf): string =>
  `the specification has no ${move.op} from ${move.from} to ${move.to} on the ${mesh.kernel} kernel`;

function planQuorum(mesh: Mesh, q: number, qmr: number): PlannedTransition {
  const order = selectQuorumOrder(mesh, { q, qmr });
  const steps: PlannedStep[] = [];
  let current = mesh;
  for (const setting of order.order) {
    const next = setting === 'q' ? { ...current, q } : { ...current, qmr };
    if (next.q === current.q && next.qmr === current.qmr) continue;
    const reason =
      setting === 'q'
        ? `q ${current.q} → ${q} for ${votersOf(mesh.members)} voters`
        : `qmr ${current.qmr} → ${qmr}: ${qmr} UpToDate copies before a write is acknowledged`;
    steps.push(
      buildStep(
        current,
        {},
        next,
        {},
        { from: null, to: null, subject: null, wait: null, irreversible: false, reason },
      ),
    );
    current = next;
  }
  return {
    op: 'ChangeQuorum',
    member: null,
    node: null,
    from: null,
    to: null,
    plan: order.plan,
    parallelism: 'Quorum',
    steps,
    findings: [],
    mesh: current,
  };
}

function planForceRemove(
  mesh: Mesh,
  subject: Member,
  active: readonly Running[],
  without: readonly string[],
): PlannedTransition {
  const { steps, mesh: after } = expandForceRemove(mesh, subject);
  return {
    op: 'ForceRemove',
    member: subject.name,
    node: subject.node,
    from: subject.type,
    to: '✕',
    plan: isVoter(subject.type) && after.q !== mesh.q ? 'force-remove-q-down/v1' : 'force-remove/v1',
    parallelism: 'Emergency',
    steps,
    findings: judgeGuards({ mesh, op: 'ForceRemove', subject, from: subject.type, to: '✕', active }, without),
    mesh: after,
  };
}

/** One step on the survivors; q follows from who is left. */
export function expandForceRemove(mesh: Mesh, subject: Member): Expansion {
  const left = withMember(mesh, subject, '✕');
  const voters = votersOf(left.members);
  const after = { ...left, q: voters === votersOf(mesh.members) ? mesh.q : quorumOf(voters) };
  const step = buildStep(
    mesh,
    {},
    after,
    {},
    {
      from: subject.type,
      to: '✕',
      subject: null,
      lost: subject.name,
      wait: null,
      irreversible: true,
      reason: `${subject.name} is gone: the survivors forget it${after.q === mesh.q ? '' : `, q ${mesh.q} → ${after.q}`}`,
    },
  );
  return { steps: [step], mesh: after };
}
