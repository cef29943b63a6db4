import { quorumOf } from './layouts.ts';
import { isVoter, needsVolume, STATE_FACTS, type MemberState } from './member-states.ts';
import { votersOf, withMember, type Mesh } from './mesh.ts';
import type { Member } from './observed.ts';
import type { Arrow } from './paths.ts';
import { buildStep, type Expansion, type PlannedStep, type Shown, type StepText } from './steps.ts';
import { selectWave } from './waves.ts';

/** One arrow, with the mesh before and after it. */
interface Stretch {
  readonly before: Mesh;
  readonly after: Mesh;
  readonly arrow: Arrow;
}

/** Expands a path, arrow by arrow; q is computed from the voters that each arrow leaves. */
export function expandArrows(start: Mesh, subject: Member, arrows: readonly Arrow[]): Expansion {
  const steps: PlannedStep[] = [];
  const paused: Stretch[] = [];
  let mesh = start;
  for (const arrow of arrows) {
    const moved = withMember(mesh, subject, arrow.to);
    const stretch = { before: mesh, after: { ...moved, q: quorumOf(votersOf(moved.members)) }, arrow };
    // Neighbours that both need the tie-breakers out of the way share one pause.
    if (selectWave(mesh, subject.name, arrow).kind === 'pause') paused.push(stretch);
    else
      steps.push(
        ...expandPause(paused.splice(0), subject),
        ...expandArrow(stretch, subject),
        ...(arrow.to === '✕' ? [goDown(stretch.after, subject.name)] : []),
      );
    mesh = stretch.after;
  }
  return { steps: [...steps, ...expandPause(paused, subject)], mesh };
}

/** A member that leaves goes down last: a tie-breaker that is gone before its peers forget it counts as missing. */
const goDown = (mesh: Mesh, name: string): PlannedStep => ({
  from: '✕',
  to: '✕',
  q: mesh.q,
  qmr: mesh.qmr,
  confirm: [name],
  actions: { [name]: [{ do: 'down' }] },
  rolling: false,
  wait: null,
  irreversible: false,
  leaves: '✕',
  safePoint: true,
  retreat: [],
  reason: `${name}: nobody counts on it any more, so its resource goes down`,
});

function textOf({ before, after, arrow }: Stretch, subject: Member): StepText {
  return {
    from: arrow.from,
    to: arrow.to,
    subject: subject.name,
    wait: waitOf(subject.name, arrow),
    irreversible: needsVolume(arrow.from) && !needsVolume(arrow.to),
    reason: reasonOf(before, after, subject.name, arrow),
    ...(arrow.to === '✕' ? { idle: subject.name } : {}),
  };
}

function expandArrow(stretch: Stretch, subject: Member): readonly PlannedStep[] {
  const { before, after, arrow } = stretch;
  const wave = selectWave(before, subject.name, arrow);
  if (wave.kind === 'pause') return expandPause([stretch], subject);
  if (wave.kind === 'detached') return expandDetached(stretch, subject);
  const main = textOf(stretch, subject);
  if (wave.kind === 'none') return [buildStep(before, {}, after, {}, main)];
  return expandVestibule({ before, after, subject, arrow, main, hidden: wave.hidden });
}

type Step = (from: Mesh, to: Mesh, state: MemberState | null, reason: string) => PlannedStep;

/** Steps that hide tie-breakers from everybody and show them again; nothing else changes in them. */
const showing =
  (before: Shown, after: Shown, retreat: readonly PlannedStep[] = []): Step =>
  (from, to, state, reason) =>
    buildStep(from, before, to, after, {
      from: state,
      to: state,
      subject: null,
      wait: null,
      irreversible: false,
      reason,
      retreat,
    });

const asClients = (names: readonly string[]): Shown =>
  Object.fromEntries(names.map((name) => [name, 'A' as const]));

/** All nodes stop counting the tie-breakers before these arrows, and count them again after them. */
function expandPause(stretches: readonly Stretch[], subject: Member): readonly PlannedStep[] {
  const [first] = stretches;
  if (first === undefined) return [];
  const wave = selectWave(first.before, subject.name, first.arrow);
  const names = wave.kind === 'pause' ? wave.tiebreakers : [];
  const paused = asClients(names);
  const list = names.join(', ');
  const show = (mesh: Mesh, state: MemberState, why: string): PlannedStep =>
    showing(paused, {})(mesh, mesh, state, `${list} may break ties again: ${why}`);
  const back = show(first.before, first.arrow.from, 'nothing changes');
  const hide = showing({}, paused, [back])(
    first.before,
    first.before,
    first.arrow.from,
    `no node may break a tie with ${list} while the votes, or the copies behind them, change`,
  );
  const mains = stretches.map((stretch) => {
    const retreat = [show(stretch.after, stretch.arrow.to, 'all that are left count the same voters')];
    return buildStep(stretch.before, paused, stretch.after, paused, {
      ...textOf(stretch, subject),
      retreat,
    });
  });
  const last = stretches.at(-1) ?? first;
  return [hide, ...mains, show(last.after, last.arrow.to, 'all nodes count the same voters')];
}

/** A vote that moves with a disk attached: the disk is detached meanwhile, for a disk cannot be shown as a tie-breaker. */
function expandDetached({ before, after, arrow }: Stretch, subject: Member): readonly PlannedStep[] {
  const [leaving, landing] = isVoter(arrow.from) ? (['D∅', 'sD∅'] as const) : (['sD∅', 'D∅'] as const);
  const detached = withMember(before, subject, leaving);
  const moved = { ...withMember(before, subject, landing), q: after.q };
  const label = (steps: readonly PlannedStep[], state: MemberState): readonly PlannedStep[] =>
    steps.map((step) => ({ ...step, from: state, to: step.from === step.to ? state : arrow.to }));
  const still = (steps: readonly PlannedStep[], state: MemberState): readonly PlannedStep[] =>
    steps.map((step) => ({ ...step, from: state, to: state }));
  const part = (from: Mesh, to: Mesh, way: Pick<Arrow, 'from' | 'to'>): readonly PlannedStep[] =>
    expandArrow({ before: from, after: to, arrow: { ...way, q: null } }, subject);
  const detach = part(before, detached, { from: arrow.from, to: leaving }).map((step) => ({
    ...step,
    reason: `${subject.name}: detaches its disk, for a disk cannot be shown as a tie-breaker; it synchronises again`,
  }));
  return [
    ...still(detach, arrow.from),
    ...label(part(detached, moved, { from: leaving, to: landing }), arrow.from),
    ...still(part(moved, after, { from: landing, to: arrow.to }), arrow.to),
  ];
}

/** A change of vote through the vestibule. */
interface Vestibule {
  readonly before: Mesh;
  readonly after: Mesh;
  readonly subject: Member;
  readonly arrow: Arrow;
  readonly main: StepText;
  readonly hidden: readonly string[];
}

/** Through one more tie-breaker: both tie-breakers are needed for a tie until every node counts the change. */
function expandVestibule(way: Vestibule): readonly PlannedStep[] {
  const { before, after, subject, arrow, main } = way;
  const { name } = subject;
  const hidden = asClients(way.hidden);
  const shown: Shown = { ...hidden, [name]: 'TB' };
  const between = { ...withMember(before, subject, 'D∅'), q: before.q };
  const list = way.hidden.join(', ');
  const show = (mesh: Mesh, state: MemberState): readonly PlannedStep[] =>
    list === '' ? [] : [showing(hidden, {})(mesh, mesh, state, `${list} may break ties again`)];
  const hide =
    list === ''
      ? []
      : [
          showing({}, hidden, show(before, arrow.from))(
            before,
            before,
            arrow.from,
            `one tie-breaker is enough: with ${list} a tie could be broken without ${name}`,
          ),
        ];
  const enter = enterVestibule(way, hidden, shown, show(before, arrow.from));
  return [
    ...hide,
    enter,
    buildStep(between, shown, after, hidden, { ...main, retreat: show(after, arrow.to) }),
    ...show(after, arrow.to),
  ];
}

/** Every node counts the member as one more tie-breaker; and how to leave it again the way it came. */
function enterVestibule(
  { before, subject, arrow }: Vestibule,
  hidden: Shown,
  shown: Shown,
  show: readonly PlannedStep[],
): PlannedStep {
  const { name } = subject;
  const gains = isVoter(arrow.to);
  const joins = arrow.from === '✦';
  const between = { ...withMember(before, subject, 'D∅'), q: before.q };
  const side: StepText = {
    from: arrow.from,
    to: arrow.from,
    subject: name,
    wait: gains ? `every connection of ${name} is established` : null,
    irreversible: !gains,
    reason: gains
      ? `every node counts ${name} as one more tie-breaker before any counts it as a voter`
      : `every node counts ${name} as one more tie-breaker before any stops counting it`,
  };
  const back = buildStep(between, shown, before, hidden, {
    ...side,
    wait: null,
    irreversible: false,
    reason: `no node counts ${name} as a tie-breaker any more: its vote does not change`,
    ...(joins ? { idle: name } : {}),
  });
  const retreat = [back, ...(joins ? [goDown(before, name)] : []), ...show];
  return buildStep(before, hidden, between, shown, { ...side, retreat });
}

function waitOf(name: string, arrow: Arrow): string | null {
  const gainsDisk = STATE_FACTS[arrow.to].disk && !STATE_FACTS[arrow.from].disk;
  if (gainsDisk) return `${name} is UpToDate`;
  if (arrow.to === '✕') return null;
  return arrow.from === '✦' || arrow.to === 'TB' ? `every connection of ${name} is established` : null;
}

function reasonOf(before: Mesh, after: Mesh, name: string, arrow: Arrow): string {
  const [was, now] = [votersOf(before.members), votersOf(after.members)];
  const votes =
    was === now
      ? ''
      : `; ${was} voters become ${now}, q ${before.q === after.q ? `stays ${after.q}` : `${before.q} → ${after.q}`}`;
  return `${name}: ${arrowReason(arrow)}${votes}`;
}

function arrowReason(arrow: Arrow): string {
  const { disk } = STATE_FACTS[arrow.to];
  if (arrow.to === '✕') return 'leaves; every peer forgets it, so that its metadata slot is free';
  if (disk && !STATE_FACTS[arrow.from].disk) return 'attaches its disk and synchronises';
  if (!disk && STATE_FACTS[arrow.from].disk) return 'detaches its disk; attaching it again is a short resync';
  if (arrow.from === '✦') return `joins as ${STATE_FACTS[arrow.to].name}`;
  return `becomes ${STATE_FACTS[arrow.to].name}`;
}
