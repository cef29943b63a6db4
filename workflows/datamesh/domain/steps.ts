import { quorumOf } from './layouts.ts';
import { isVoter, needsVolume, STATE_FACTS, type MemberState } from './member-states.ts';
import { presentedMesh, votersOf, withMember, type Mesh } from './mesh.ts';
import { buildCommands, selectCommandOrder, type CommandOrder, type NodeCommand } from './node-commands.ts';
import { buildConfigs } from './node-config.ts';
import type { Member } from './observed.ts';
import type { Arrow } from './paths.ts';
import { selectWave } from './waves.ts';

/** One step: what changes, who must confirm, what each node runs, and what is waited for. */
export interface PlannedStep {
  readonly from: MemberState | null;
  readonly to: MemberState | null;
  readonly q: number;
  readonly qmr: number;
  readonly confirm: readonly string[];
  /** By member; members without commands are absent. */
  readonly actions: Readonly<Record<string, readonly NodeCommand[]>>;
  readonly wait: string | null;
  readonly irreversible: boolean;
  /** After it every member is shown as what it is: the plan can stop, be cancelled or give way to an emergency here. */
  readonly safePoint: boolean;
  readonly reason: string;
}

/** Steps, and the mesh that they leave. */
export interface Expansion {
  readonly steps: readonly PlannedStep[];
  readonly mesh: Mesh;
}

type Shown = Readonly<Record<string, 'TB' | 'A'>>;

/** Everything that one step needs beside the two meshes. */
interface StepText {
  readonly from: MemberState | null;
  readonly to: MemberState | null;
  readonly subject: string | null;
  readonly wait: string | null;
  readonly irreversible: boolean;
  readonly reason: string;
  /** Left out of the confirmations and of the commands: a member that cannot be reached. */
  readonly lost?: string;
  /** Runs nothing in this step, because it has a step of its own. */
  readonly idle?: string;
}

/** The step between two meshes: each node's commands are the difference of its configurations, in the safe order. */
export function buildStep(
  before: Mesh,
  beforeShown: Shown,
  after: Mesh,
  afterShown: Shown,
  text: StepText,
): PlannedStep {
  const old = buildConfigs(presentedMesh(before, beforeShown));
  const next = buildConfigs(presentedMesh(after, afterShown));
  const order: CommandOrder = selectCommandOrder(votersOf(before.members), votersOf(after.members));
  const names = [...new Set([...Object.keys(old), ...Object.keys(next)])].filter(
    (name) => name !== text.lost,
  );
  const actions: Record<string, readonly NodeCommand[]> = {};
  for (const name of names) {
    if (name === text.idle) continue;
    const commands = buildCommands(old[name] ?? null, next[name] ?? null, order);
    if (commands.length > 0) actions[name] = commands;
  }
  return {
    from: text.from,
    to: text.to,
    q: after.q,
    qmr: after.qmr,
    confirm: names.filter((name) => actions[name] !== undefined || name === text.subject),
    actions,
    wait: text.wait,
    irreversible: text.irreversible,
    safePoint: Object.keys(afterShown).length === 0,
    reason: text.reason,
  };
}

/** Expands a path, arrow by arrow; q is computed from the voters that each arrow leaves. */
export function expandArrows(start: Mesh, subject: Member, arrows: readonly Arrow[]): Expansion {
  const steps: PlannedStep[] = [];
  let mesh = start;
  for (const arrow of arrows) {
    const moved = withMember(mesh, subject, arrow.to);
    const after = { ...moved, q: quorumOf(votersOf(moved.members)) };
    steps.push(
      ...expandArrow(mesh, after, subject, arrow),
      ...(arrow.to === '✕' ? [goDown(after, subject.name)] : []),
    );
    mesh = after;
  }
  return { steps, mesh };
}

/** A member that leaves goes down last: a tie-breaker that is gone before its peers forget it counts as missing. */
const goDown = (mesh: Mesh, name: string): PlannedStep => ({
  from: '✕',
  to: '✕',
  q: mesh.q,
  qmr: mesh.qmr,
  confirm: [name],
  actions: { [name]: [{ do: 'down' }] },
  wait: null,
  irreversible: false,
  safePoint: true,
  reason: `${name}: nobody counts on it any more, so its resource goes down`,
});

function expandArrow(before: Mesh, after: Mesh, subject: Member, arrow: Arrow): readonly PlannedStep[] {
  const wave = selectWave(before, subject.name, arrow);
  const main: StepText = {
    from: arrow.from,
    to: arrow.to,
    subject: subject.name,
    wait: waitOf(subject.name, arrow),
    irreversible: needsVolume(arrow.from) && !needsVolume(arrow.to),
    reason: reasonOf(before, after, subject.name, arrow),
    ...(arrow.to === '✕' ? { idle: subject.name } : {}),
  };
  if (wave.kind === 'none') return [buildStep(before, {}, after, {}, main)];
  if (wave.kind === 'pause') {
    const paused = Object.fromEntries(wave.tiebreakers.map((name) => [name, 'A' as const]));
    const list = wave.tiebreakers.join(', ');
    const side = { subject: null, wait: null, irreversible: false } as const;
    return [
      buildStep(before, {}, before, paused, {
        ...side,
        from: arrow.from,
        to: arrow.from,
        reason: `no node may break a tie with ${list} while another already counts the changed vote`,
      }),
      buildStep(before, paused, after, paused, main),
      buildStep(
        after,
        paused,
        after,
        {},
        {
          ...side,
          from: arrow.to,
          to: arrow.to,
          reason: `${list} may break ties again: all nodes count the same voters`,
        },
      ),
    ];
  }
  return expandVestibule(before, after, subject, arrow, main);
}

/** Through one more tie-breaker: both tie-breakers are needed for a tie until every node counts the change. */
function expandVestibule(
  before: Mesh,
  after: Mesh,
  subject: Member,
  arrow: Arrow,
  main: StepText,
): readonly PlannedStep[] {
  const shown = { [subject.name]: 'TB' as const };
  const gains = isVoter(arrow.to);
  const between = { ...withMember(before, subject, 'D∅'), q: before.q };
  const side: StepText = {
    from: arrow.from,
    to: arrow.from,
    subject: subject.name,
    wait: gains ? `every connection of ${subject.name} is established` : null,
    irreversible: !gains,
    reason: gains
      ? `every node counts ${subject.name} as one more tie-breaker before any counts it as a voter`
      : `every node counts ${subject.name} as one more tie-breaker before any stops counting it`,
  };
  return [buildStep(before, {}, between, shown, side), buildStep(between, shown, after, {}, main)];
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
