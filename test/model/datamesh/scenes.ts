import { quorumOf } from '../../../workflows/datamesh/domain/layouts.ts';
import { withMember, votersOf, type Mesh } from '../../../workflows/datamesh/domain/mesh.ts';
import type { Intent, Member } from '../../../workflows/datamesh/domain/observed.ts';
import type { MemberState } from '../../../workflows/datamesh/domain/member-states.ts';
import {
  homeOf,
  planTransition,
  type PlannedTransition,
} from '../../../workflows/datamesh/domain/transitions.ts';
import type { PlannedStep } from '../../../workflows/datamesh/domain/steps.ts';
import type { KernelModel } from './kernel-models.ts';
import type { Network, Scenario, Track } from './scenario.ts';

/** How many members of each type a scene has. */
export interface Counts {
  readonly D: number;
  readonly TB: number;
  readonly A: number;
  readonly sD: number;
}

const member = (name: string, type: MemberState, zone = 'z'): Member => ({
  name,
  type,
  node: name,
  zone,
  upToDate: type === 'D' || type === 'sD',
  attached: false,
});

const named = (count: number, letter: string, type: MemberState): readonly Member[] =>
  Array.from({ length: count }, (_, at) => member(`${letter}${at + 1}`, type));

/** A mesh at rest with these members; qmr is given, q follows. */
export function meshOfCounts(kernel: KernelModel, counts: Counts, qmr: number): Mesh {
  const members = [
    ...named(counts.D, 'd', 'D'),
    ...named(counts.TB, 't', 'TB'),
    ...named(counts.A, 'a', 'A'),
    ...named(counts.sD, 's', 'sD'),
  ];
  return {
    kernel: kernel.kernel,
    q: quorumOf(votersOf(members)),
    qmr,
    // The least that can be asked: what guards ask for beyond it is judged by the measures.
    configuration: { ftt: 0, gmdr: qmr - 1, topology: 'Ignored', volumeAccess: 'Any', mode: 'manual' },
    members,
  };
}

/** Every intent that some row of the specification answers in this mesh, one subject of each type. */
export function intentsIn(mesh: Mesh, flant: boolean): readonly Intent[] {
  const types = flant ? (['A', 'TB', 'D', 'sD'] as const) : (['A', 'TB', 'D'] as const);
  const subjects = types.flatMap((type) => mesh.members.filter((one) => one.type === type).slice(-1));
  return [
    ...types.map((type): Intent => ({ op: 'AddMember', member: 'new', type, node: 'new', zone: 'z' })),
    ...subjects.map((one): Intent => ({ op: 'RemoveMember', member: one.name })),
    ...subjects.flatMap((one) =>
      types
        .filter((to) => to !== one.type)
        .map((to): Intent => ({ op: 'ChangeMemberType', member: one.name, from: one.type, to })),
    ),
  ];
}

/** The track of an intent, with what follows a force-removal, as the planner has it; `without` leaves guards out. */
export function trackOf(mesh: Mesh, intent: Intent, without: readonly string[] = []): Track {
  const planned = planTransition(mesh, intent);
  return {
    label: titleOf(planned),
    member: planned.member,
    steps: planned.steps,
    afterForceRemove: (done, lost) => forcedTrack(mesh, planned, intent, done, lost, without),
  };
}

/** A mesh that is at rest until a member is lost. */
export const restTrack = (mesh: Mesh): Track => ({
  label: 'rest',
  member: null,
  steps: [],
  afterForceRemove: (_done, lost) => {
    const force = planTransition(mesh, { op: 'ForceRemove', member: lost });
    return force.findings.some((finding) => 'message' in finding.answer)
      ? 'refused'
      : { label: `ForceRemove(${lost})`, member: null, steps: force.steps };
  },
});

export const titleOf = (planned: PlannedTransition): string =>
  planned.member === null
    ? `${planned.op}(q=${planned.mesh.q} qmr=${planned.mesh.qmr})`
    : `${planned.op}(${planned.member}: ${planned.from} → ${planned.to})`;

function forcedTrack(
  start: Mesh,
  planned: PlannedTransition,
  intent: Intent,
  done: number,
  lost: string,
  without: readonly string[],
): Track | 'refused' {
  const retreat = retreatOf(planned.steps[done - 1], lost);
  const mesh = meshAfter(start, planned, done);
  const track = (label: string, steps: readonly PlannedStep[]): Track => ({
    label,
    member: planned.member,
    steps,
  });
  // A newcomer that is lost before it is a member is forgotten on the way back; a leaver that is lost has left.
  if (!mesh.members.some((one) => one.name === lost)) return track(`without ${lost}`, retreat);
  const force = planTransition(mesh, { op: 'ForceRemove', member: lost }, [], without);
  if (force.findings.some((finding) => 'message' in finding.answer)) return 'refused';
  const rest = lost === planned.member ? null : resume(force.mesh, planned, intent, without);
  return track(`ForceRemove(${lost})${rest === null ? '' : `, then ${rest.label}`}`, [
    ...retreat,
    ...force.steps,
    ...(rest?.steps ?? []),
  ]);
}

/** The steps to the next safe point, without the member that is lost. */
const retreatOf = (step: PlannedStep | undefined, lost: string): readonly PlannedStep[] =>
  (step?.retreat ?? [])
    .map((one) => ({
      ...one,
      confirm: one.confirm.filter((name) => name !== lost),
      actions: Object.fromEntries(Object.entries(one.actions).filter(([name]) => name !== lost)),
    }))
    .filter((one) => one.confirm.length > 0);

/** The mesh after so many steps of a plan. */
export function meshAfter(start: Mesh, planned: PlannedTransition, done: number): Mesh {
  if (done === 0) return start;
  const step = planned.steps[done - 1];
  if (step === undefined) throw new Error(`${planned.plan} has no step ${done}`);
  const subject = subjectOf(start, planned);
  const moved = subject === null || step.leaves === null ? start : withMember(start, subject, step.leaves);
  return { ...moved, q: step.q, qmr: step.qmr };
}

function subjectOf(mesh: Mesh, planned: PlannedTransition): Member | null {
  if (planned.member === null) return null;
  return mesh.members.find((one) => one.name === planned.member) ?? member(planned.member, '✦');
}

/** What becomes of a plan when the members have changed under it: planned again from where its member is, guards included. */
export function resume(
  mesh: Mesh,
  planned: PlannedTransition,
  intent: Intent,
  without: readonly string[] = [],
): Track | null {
  const now = mesh.members.find((one) => one.name === planned.member);
  if (intent.op === 'ForceRemove' || intent.op === 'ChangeQuorum') return null;
  if (now === undefined) return intent.op === 'AddMember' ? takeIfAllowed(mesh, intent, without) : null;
  const target = planned.to;
  if (target === null || target === '✦' || target === 'D∅' || target === 'sD∅' || now.type === target)
    return null;
  const wish: Intent =
    target === '✕'
      ? { op: 'RemoveMember', member: now.name }
      : { op: 'ChangeMemberType', member: now.name, from: now.type, to: target };
  const wanted = takeIfAllowed(mesh, wish, without);
  const home = homeOf(now.type);
  if (wanted !== null || home === null) return wanted;
  return takeIfAllowed(mesh, { op: 'ChangeMemberType', member: now.name, from: now.type, to: home });
}

function takeIfAllowed(mesh: Mesh, intent: Intent, without: readonly string[] = []): Track | null {
  const planned = planTransition(mesh, intent, [], without);
  if (planned.findings.some((finding) => 'message' in finding.answer)) return null;
  return { label: titleOf(planned), member: planned.member, steps: planned.steps };
}

/** A scenario of one or two tracks from a mesh. */
export function scenarioOf(
  kernel: KernelModel,
  start: Mesh,
  tracks: readonly [Track] | readonly [Track, Track],
  network: Network,
  primary: string | null = null,
): Scenario {
  const known = new Set(start.members.map((one) => one.name));
  const fresh = tracks.flatMap((track) =>
    track.member !== null && !known.has(track.member) ? [member(track.member, '✦')] : [],
  );
  const name = `${kernel.name}, ${sceneName(start)}: ${tracks.map((track) => track.label).join(' ∥ ')}`;
  return { name, kernel, start, members: [...start.members, ...fresh], tracks, network, primary };
}

/** 3D+1TB q=2 qmr=1. */
export function sceneName(mesh: Mesh): string {
  const of = (type: MemberState): number => mesh.members.filter((one) => one.type === type).length;
  const parts = (['D', 'TB', 'sD', 'A'] as const).flatMap((type) =>
    of(type) > 0 ? [`${of(type)}${type}`] : [],
  );
  return `${parts.join('+')} q=${mesh.q} qmr=${mesh.qmr}`;
}
