import type { MemberState } from './member-states.ts';
import { presentedMesh, votersOf, type Mesh } from './mesh.ts';
import { buildCommands, selectCommandOrder, type CommandOrder, type NodeCommand } from './node-commands.ts';
import { buildConfigs } from './node-config.ts';

/** One step: what changes, who must confirm, what each node runs, and what is waited for. */
export interface PlannedStep {
  readonly from: MemberState | null;
  readonly to: MemberState | null;
  readonly q: number;
  readonly qmr: number;
  readonly confirm: readonly string[];
  /** By member; members without commands are absent. */
  readonly actions: Readonly<Record<string, readonly NodeCommand[]>>;
  /** One node after another: the next begins when the one before has run all its commands. */
  readonly rolling: boolean;
  readonly wait: string | null;
  readonly irreversible: boolean;
  /** What the member is when the step is done: `to`, or for a while the same without its disk. */
  readonly leaves: MemberState | null;
  /** After it every member is shown as what it is: the plan can stop, be cancelled or give way to an emergency here. */
  readonly safePoint: boolean;
  /** Where it is no safe point: how the members get to one when one of them is lost and cannot confirm. */
  readonly retreat: readonly PlannedStep[];
  readonly reason: string;
}

/** Steps, and the mesh that they leave. */
export interface Expansion {
  readonly steps: readonly PlannedStep[];
  readonly mesh: Mesh;
}

/** Members that are shown as something else than they are, for a while. */
export type Shown = Readonly<Record<string, 'TB' | 'A'>>;

/** Everything that one step needs beside the two meshes. */
export interface StepText {
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
  readonly retreat?: readonly PlannedStep[];
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
    // Between its q and the voters that it counts a node lacks one vote; one at a time is made up for by the others.
    rolling: after.q !== before.q && before.members.length > 0 && after.members !== before.members,
    wait: text.wait,
    irreversible: text.irreversible,
    leaves: text.to,
    safePoint: Object.keys(afterShown).length === 0,
    retreat: text.retreat ?? [],
    reason: text.reason,
  };
}
