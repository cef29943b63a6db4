import { blockedWith, type GuardAnswer, type GuardCase, type GuardRow } from './guard-rows.ts';
import { KERNEL_FACTS } from './kernels.ts';
import { quorumOf, tiebreakersFor } from './layouts.ts';
import { isVoter } from './member-states.ts';
import { countOf, upToDateVoters, votersOf, withMember } from './mesh.ts';
import type { Member } from './observed.ts';
import { zoneLosses } from './zone-survival.ts';

const membersAfter = (input: GuardCase): readonly Member[] =>
  withMember(input.mesh, input.subject, input.to).members;

/** Losing a zone is survived only by a layout that survives losing something. */
const judgesZones = (input: GuardCase): boolean =>
  input.mesh.configuration.topology === 'TransZonal' && input.mesh.configuration.ftt > 0;

const guard = (
  row: Omit<GuardRow, 'judge'>,
  judge: (input: GuardCase, template: string) => GuardAnswer,
): GuardRow => ({ ...row, judge: (input) => judge(input, row.message) });

/** NotAttached, asked before any removal. */
export const NOT_ATTACHED = guard(
  {
    name: 'NotAttached',
    asked: 'removing any member',
    condition: 'member.Attached == false AND no active Detach transition for this member',
    message: 'Cannot remove attached member',
    wayOut:
      'Detach the volume from this node first, or let managed mode retype the member (attached-member strategy).',
    origin: 'specification',
  },
  (input, text) =>
    input.subject.attached ||
    input.active.some((one) => one.op === 'Detach' && one.member === input.subject.name)
      ? blockedWith(text, {})
      : null,
);

/** What must hold before a voter leaves. */
export const LEAVING_D: readonly GuardRow[] = [
  guard(
    {
      name: 'VolumeAccessLocal',
      asked: 'leaving D',
      condition: 'NOT (member.Attached AND volumeAccess == Local), skip if target is sD',
      message: 'Cannot demote Diskful: volumeAccess=Local requires D on attached node',
      wayOut: 'Detach first; on flant-drbd change the type to sD instead.',
      origin: 'specification',
    },
    ({ subject, to, mesh }, text) =>
      subject.attached && mesh.configuration.volumeAccess === 'Local' && to !== 'sD'
        ? blockedWith(text, {})
        : null,
  ),
  guard(
    {
      name: 'QMRReady',
      asked: 'leaving D',
      condition: 'current_qmr ≤ target_FTT-BDL + 1',
      message: 'ChangeQuorum not yet applied: qmr={q}, target={t}',
      wayOut: 'Wait for ChangeQuorum to lower qmr on every member.',
      origin: 'specification',
    },
    ({ mesh }, text) =>
      mesh.qmr > mesh.configuration.gmdr + 1
        ? blockedWith(text, { q: mesh.qmr, t: mesh.configuration.gmdr + 1 })
        : null,
  ),
  guard(
    {
      name: 'FTT-BDL',
      asked: 'leaving D',
      condition: 'UpToDate D without the member > target_FTT-BDL',
      message: 'Would violate FTT-BDL: pFTT-BDL={p}, need > {t}',
      wayOut: 'Wait until a replacement D is UpToDate.',
      origin: 'changed',
    },
    (input, text) => {
      const p = upToDateVoters(membersAfter(input)).length;
      const t = input.mesh.configuration.gmdr;
      return p > t ? null : blockedWith(text, { p, t });
    },
  ),
  guard(
    {
      name: 'FTT-BUA',
      asked: 'leaving D',
      condition: 'D_count > D_min where D_min = target_FTT-BUA + target_FTT-BDL + 1',
      message: 'Would violate FTT-BUA: D_count={d}, need > {min}',
      wayOut: 'Add a replacement D first, or lower the layout.',
      origin: 'specification',
    },
    ({ mesh }, text) => {
      const d = votersOf(mesh.members);
      const min = mesh.configuration.ftt + mesh.configuration.gmdr + 1;
      return d > min ? null : blockedWith(text, { d, min });
    },
  ),
  guard(
    {
      name: 'TBReady',
      asked: 'leaving D',
      condition: 'TB_count ≥ TB_min of the voters that are left, where they are enough (FTT-BUA)',
      message: 'TB required: D_count={d} even, FTT-BUA={bua} = D/2',
      wayOut: 'Add a TB first, or change the type to TB instead of removing.',
      origin: 'added',
    },
    (input, text) => {
      const after = membersAfter(input);
      const d = votersOf(after);
      const bua = input.mesh.configuration.ftt;
      const enough = d >= bua + input.mesh.configuration.gmdr + 1;
      return !enough || countOf(after, 'TB') >= tiebreakersFor(d, bua) ? null : blockedWith(text, { d, bua });
    },
  ),
  guard(
    {
      name: 'ZoneFTT-BDL',
      asked: 'leaving D',
      condition:
        'topology ≠ TransZonal, OR losing any single zone after removal still leaves > target_FTT-BDL UpToDate D; not asked for FTT 0',
      message: 'Would violate zone FTT-BDL: losing zone {z} would leave {n} D, need > {t}',
      wayOut: 'Add a replacement D in the same zone first, or redistribute the zones.',
      origin: 'changed',
    },
    (input, text) => {
      const t = input.mesh.configuration.gmdr;
      const bad = judgesZones(input)
        ? zoneLosses(membersAfter(input)).find((loss) => loss.upToDate <= t)
        : undefined;
      return bad === undefined ? null : blockedWith(text, { z: bad.zone, n: bad.upToDate, t });
    },
  ),
  guard(
    {
      name: 'ZoneFTT-BUA',
      asked: 'leaving D',
      condition:
        'topology ≠ TransZonal, OR losing any single zone after removal keeps quorum by the kernel’s rule (a tie needs an even number of voters and a majority of the tie-breakers); not asked for FTT 0',
      message: 'Would violate zone FTT-BUA: losing zone {z} would leave {d} voters, need > {min}',
      wayOut: 'Add a replacement D in the same zone first, or redistribute the zones.',
      origin: 'changed',
    },
    (input, text) => {
      const after = membersAfter(input);
      const bad = judgesZones(input) ? zoneLosses(after).find((loss) => !loss.quorate) : undefined;
      return bad === undefined
        ? null
        : blockedWith(text, { z: bad.zone, d: bad.voters, min: quorumOf(votersOf(after)) - 1 });
    },
  ),
];

/** What must hold before a tie-breaker leaves. */
export const LEAVING_TB: readonly GuardRow[] = [
  guard(
    {
      name: 'TBRequired',
      asked: 'leaving TB',
      condition:
        'TB_count > TB_min where TB_min = 1 if D_count is even AND target_FTT-BUA ≥ D_count / 2, else 0; a TB that becomes a voter at once counts as one',
      message: 'TB required: D_count={d} even, FTT-BUA={bua} = D/2',
      wayOut: 'Add a replacement TB first, or add a D to make D_count odd.',
      origin: 'changed',
    },
    (input, text) => {
      const { mesh, to } = input;
      const direct = to === 'D' && !KERNEL_FACTS[mesh.kernel].shadow;
      const d = votersOf(direct ? membersAfter(input) : mesh.members);
      const required = tiebreakersFor(d, mesh.configuration.ftt);
      return countOf(mesh.members, 'TB') - 1 >= required
        ? null
        : blockedWith(text, { d, bua: mesh.configuration.ftt });
    },
  ),
  guard(
    {
      name: 'ZoneTBRequired',
      asked: 'leaving TB',
      condition:
        'topology ≠ TransZonal, OR no zone whose loss is survived now would cost quorum without this TB; not asked for FTT 0',
      message: 'Would violate zone TB coverage for zone {z}',
      wayOut: 'Add a replacement TB in the same zone first.',
      origin: 'specification',
    },
    (input, text) => {
      if (!judgesZones(input)) return null;
      const before = zoneLosses(input.mesh.members);
      const bad = zoneLosses(membersAfter(input)).find(
        (loss) => !loss.quorate && before.some((now) => now.zone === loss.zone && now.quorate),
      );
      return bad === undefined ? null : blockedWith(text, { z: bad.zone });
    },
  ),
];

/** Asked where a tie-breaker comes, and where a voter goes and leaves an even number: the specification has nothing here. */
const TB_REDUNDANCY = guard(
  {
    name: 'TBRedundancy',
    asked: 'adding TB',
    condition:
      'NOT (TB left AND D left even AND qmr > D left / 2): breaking a tie does not check qmr; also asked for leaving D',
    message: 'Would violate FTT-BDL: a tie of {d} D is broken with {half} copies, need qmr={qmr}',
    wayOut: 'Lower GMDR first, remove the TB first, or add the member as A.',
    origin: 'added',
  },
  (input, text) => {
    const after = membersAfter(input);
    const d = votersOf(after);
    const { qmr } = input.mesh;
    return countOf(after, 'TB') > 0 && d > 0 && d % 2 === 0 && qmr > d / 2
      ? blockedWith(text, { d, half: d / 2, qmr })
      : null;
  },
);

/** What must hold before a tie-breaker is added. */
export const ADDING_TB: readonly GuardRow[] = [TB_REDUNDANCY];

/** What must hold before a member is removed without its help; asked before anything is preempted. */
export const FORCE_REMOVE: readonly GuardRow[] = [
  guard(
    {
      name: 'LastCopy',
      asked: 'ForceRemove',
      condition: 'a voter leaves an UpToDate D behind',
      message:
        'Cannot force-remove the last UpToDate D: it may still serve alone, and nobody else has its data',
      wayOut: 'Bring its node back, or delete the volume.',
      origin: 'added',
    },
    (input, text) =>
      isVoter(input.from) && upToDateVoters(membersAfter(input)).length === 0 ? blockedWith(text, {}) : null,
  ),
  guard(
    {
      name: 'NotAttached',
      asked: 'ForceRemove',
      condition: 'member.Attached == false',
      message: 'Cannot remove attached member',
      wayOut: 'Detach the volume from this node first; a node that is gone for good is force-detached.',
      origin: 'added',
    },
    ({ subject }, text) => (subject.attached ? blockedWith(text, {}) : null),
  ),
  guard(
    {
      name: 'NotConnected',
      asked: 'ForceRemove',
      condition: 'no member reports a connection to it',
      message: 'Cannot force-remove a reachable member: {peers} still connected',
      wayOut: 'Remove it the ordinary way, or cut its node off first.',
      origin: 'added',
    },
    ({ subject }, text) => {
      if (subject.connectedTo === undefined) return { needs: `connectedTo of ${subject.name}` };
      const peers = subject.connectedTo.join(', ');
      return peers === '' ? null : blockedWith(text, { peers });
    },
  ),
];

/** Every guard, in the order in which they are asked. */
export const GUARDS: readonly GuardRow[] = [
  NOT_ATTACHED,
  ...LEAVING_D,
  ...LEAVING_TB,
  ...ADDING_TB,
  ...FORCE_REMOVE,
];

/** The guards that a transition must pass, in order. */
export function selectGuards(input: Pick<GuardCase, 'op' | 'from' | 'to'>): readonly GuardRow[] {
  if (input.op === 'ForceRemove') return FORCE_REMOVE;
  const leavesD = isVoter(input.from) && !isVoter(input.to);
  return [
    ...(input.op === 'RemoveMember' ? [NOT_ATTACHED] : []),
    ...(leavesD ? LEAVING_D : []),
    ...(input.from === 'TB' ? LEAVING_TB : []),
    ...(leavesD || input.to === 'TB' ? ADDING_TB : []),
  ];
}

/** A refusal or a missing fact, with the guard that gave it. */
export interface GuardFinding {
  readonly guard: GuardRow;
  readonly answer: Exclude<GuardAnswer, null>;
}

/** Asks the guards of a transition; all that do not simply allow it. `without` leaves guards out, for the checker. */
export function judgeGuards(input: GuardCase, without: readonly string[] = []): readonly GuardFinding[] {
  return selectGuards(input)
    .filter((row) => !without.includes(row.name))
    .flatMap((row) => {
      const answer = row.judge(input);
      return answer === null ? [] : [{ guard: row, answer }];
    });
}
