import { judgeGuards } from './guards.ts';
import { KERNEL_FACTS } from './kernels.ts';
import type { Mesh } from './mesh.ts';
import type { MemberState } from './member-states.ts';
import type { ActiveTransition, Observed } from './observed.ts';
import { groupOf, type Operation, type Running } from './parallelism.ts';
import { PATHS, type Path } from './paths.ts';
import { RefusedInput } from './refusal.ts';
import { expandArrows } from './arrow-steps.ts';
import type { PlannedTransition } from './transitions.ts';

/** A transition that was running, with the row of the specification that it is, if it is one. */
export interface ActiveRun {
  readonly running: Running;
  readonly path: Path | null;
  readonly step: number;
}

const WITHOUT_PATH: readonly Operation[] = [
  'ChangeQuorum',
  'ForceRemove',
  'Attach',
  'Detach',
  'EnableMultiattach',
  'DisableMultiattach',
  'Formation',
];

/** Reads the running transitions; each is named by its plan (`add-diskful/v1`) or by the specification's row. */
export const activeTransitions = (observed: Observed): readonly ActiveRun[] =>
  observed.active.map((active) => readActive(observed, active));

function readActive(observed: Observed, active: ActiveTransition): ActiveRun {
  const flant = KERNEL_FACTS[observed.kernel].shadow;
  const path = PATHS.find(
    (row) =>
      (row.plan === active.transition || row.title === active.transition) && (row.flant ?? flant) === flant,
  );
  if (path !== undefined) {
    const running = { op: path.op, member: active.member, from: path.from, to: path.to };
    return { running, path, step: active.step };
  }
  const op = WITHOUT_PATH.find(
    (name) => active.transition === name || active.transition.startsWith(`${name}(`),
  );
  if (op === undefined)
    throw new RefusedInput(
      `unknown active transition "${active.transition}": it must be a plan's name, a row of the specification, or one of ${WITHOUT_PATH.join(', ')}`,
    );
  return { running: { op, member: active.member, from: null, to: null }, path: null, step: active.step };
}

/** What is left of a running transition, from the state that its member is in; null when nothing is to be planned. */
export function continueActive(mesh: Mesh, run: ActiveRun): PlannedTransition | null {
  const { path, running } = run;
  const subject = mesh.members.find((member) => member.name === running.member);
  if (path === null || subject === undefined) return null;
  const at = arrowFrom(path, subject.type, run.step);
  if (at === null) return null;
  const { steps, mesh: after } = expandArrows(mesh, subject, path.arrows.slice(at));
  return {
    op: path.op,
    member: subject.name,
    node: subject.node,
    from: subject.type,
    to: path.to,
    plan: path.plan,
    parallelism: groupOf(running),
    steps,
    // The world may have changed since it began: a removal that is unsafe by now stops where it is.
    findings: judgeGuards({ mesh, op: path.op, subject, from: subject.type, to: path.to, active: [] }),
    mesh: after,
  };
}

/** The arrow that leaves the member's state, the recorded step's own if a path visits the state twice. */
function arrowFrom(path: Path, state: MemberState, step: number): number | null {
  const here = path.arrows.flatMap((arrow, at) => (arrow.from === state ? [at] : []));
  if (here.length === 0) return null;
  return here.find((at) => at >= step) ?? here.at(-1) ?? null;
}
