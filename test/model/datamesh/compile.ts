import type { NodeCommand } from '../../../workflows/datamesh/domain/node-commands.ts';
import { presentedMesh } from '../../../workflows/datamesh/domain/mesh.ts';
import { buildConfigs } from '../../../workflows/datamesh/domain/node-config.ts';
import type { PlannedStep } from '../../../workflows/datamesh/domain/steps.ts';
import { renderCommand } from '../../../workflows/datamesh/domain/command-text.ts';
import { ABSENT, restingNode, runCommand, type ModelNode } from './node-model.ts';
import type { Scenario, Track } from './scenario.ts';

/** A node's configurations during one step: the first before any command, then one after each that changes something. */
export interface Ladder {
  readonly rungs: readonly ModelNode[];
  /** What was run to reach each rung but the first, as text. */
  readonly commands: readonly string[];
  /** All that the track has run on the node to be on each rung. */
  readonly history: readonly (readonly NodeCommand[])[];
}

/** One step of one track: a ladder for every node, who must be on top before it ends, and what is waited for. */
export interface Stage {
  readonly label: string;
  readonly ladders: readonly Ladder[];
  readonly confirm: number;
  /** One node after another. */
  readonly rolling: boolean;
  /** The node that must be UpToDate before the next stage, or -1. */
  readonly waitsFor: number;
  readonly next: Stage | null;
  /** By lost node: the stage that a force-removal at this stage's end leads to. */
  readonly forced: readonly Forced[];
  readonly lost: number;
}

/** What a force-removal leads to: where the lost node may still live, with what it had run, and where it is dead. */
export type Forced = { readonly alive: Stage; readonly dead: Stage } | 'refused' | null;

/** The nodes of a scenario at its start. */
export function startNodes(scenario: Scenario): readonly ModelNode[] {
  const configs = buildConfigs(presentedMesh(scenario.start));
  return scenario.members.map((member) => restingNode(configs[member.name]));
}

/** Compiles a track into its stages; the last is a stage in which nothing is left to do. */
export function compileTrack(
  scenario: Scenario,
  track: Track,
  start: readonly ModelNode[],
  lost = -1,
): Stage {
  const after: (readonly ModelNode[])[] = [start];
  const ladders: (readonly Ladder[])[] = [];
  let nodes = start;
  let past: readonly (readonly NodeCommand[])[] = start.map(() => []);
  for (const step of track.steps) {
    const now = scenario.members.map((member, at) =>
      isUnseen(scenario, member.name)
        ? leapOf(nodes[at], step.actions[member.name] ?? [], past[at] ?? [])
        : ladderOf(
            nodes[at] ?? nodes[0],
            step.actions[member.name] ?? [],
            past[at] ?? [],
            member.name === track.member,
          ),
    );
    ladders.push(now);
    nodes = now.map((ladder, at) => ladder.rungs.at(-1) ?? nodes[at]).filter((node) => node !== undefined);
    past = now.map((ladder) => ladder.history.at(-1) ?? []);
    after.push(nodes);
  }
  const rest = nodes.map((node, at): Ladder => ({ rungs: [node], commands: [], history: [past[at] ?? []] }));
  let next: Stage = {
    label: `${track.label}: done`,
    ladders: rest,
    confirm: 0,
    rolling: false,
    waitsFor: -1,
    next: null,
    forced: forcedStages(scenario, track, track.steps.length, nodes, rest, lost),
    lost,
  };
  for (let at = track.steps.length - 1; at >= 0; at -= 1) {
    const step = track.steps[at];
    const now = ladders[at];
    if (step === undefined || now === undefined) continue;
    next = {
      label: `${track.label}, step ${at + 1}/${track.steps.length} ${stepTitle(step)}`,
      ladders: now,
      confirm: maskOf(scenario, (name) => step.confirm.includes(name)),
      rolling: step.rolling,
      waitsFor:
        track.waitsForData === false || step.wait?.includes('UpToDate') !== true
          ? -1
          : scenario.members.findIndex((member) => member.name === track.member),
      next,
      forced: forcedStages(scenario, track, at + 1, after[at + 1] ?? nodes, now, lost),
      lost,
    };
  }
  return next;
}

const stepTitle = (step: PlannedStep): string =>
  step.from === null
    ? `q=${step.q} qmr=${step.qmr}`
    : step.from === step.to
      ? `${step.from} (prepare)`
      : `${step.from} → ${step.to}`;

const maskOf = (scenario: Scenario, has: (name: string) => boolean): number =>
  scenario.members.reduce((mask, member, at) => (has(member.name) ? mask | (1 << at) : mask), 0);

/** The stages after a force-removal at a step's end. The lost node keeps whatever it had applied of that step. */
function forcedStages(
  scenario: Scenario,
  track: Track,
  done: number,
  nodes: readonly ModelNode[],
  ladders: readonly Ladder[],
  lost: number,
): readonly Forced[] {
  return scenario.members.map((member, at) => {
    // One that is down by now has left: whether its node still answers does not matter any more.
    if (lost >= 0 || nodes[at]?.up !== true) return lost >= 0 ? null : 'refused';
    const follow = track.afterForceRemove?.(done, member.name) ?? null;
    if (follow === null || follow === 'refused') return follow;
    const stage = compileTrack(scenario, follow, nodes, at);
    return { alive: freeze(stage, at, ladders[at]), dead: freeze(stage, at, NOTHING) };
  });
}

const NOTHING: Ladder = { rungs: [ABSENT], commands: [], history: [[]] };

/** Puts the lost node's rungs into every later stage: it can be anywhere on its ladder, and moves no more. */
function freeze(stage: Stage, at: number, ladder: Ladder | undefined): Stage {
  if (ladder === undefined) return stage;
  const ladders = stage.ladders.map((old, node) => (node === at ? ladder : old));
  return { ...stage, ladders, next: stage.next === null ? null : freeze(stage.next, at, ladder) };
}

/**
 * The rungs of one node in one step. The commands with which the subject itself joins or leaves its peers are one
 * rung: the peers' own commands already give every subset of connections.
 */
function ladderOf(
  start: ModelNode | undefined,
  commands: readonly NodeCommand[],
  past: readonly NodeCommand[],
  subject: boolean,
): Ladder {
  if (start === undefined) throw new Error('a node without a start');
  const rungs = [start];
  const history = [past];
  const texts: string[] = [];
  let pending: string[] = [];
  let node = start;
  for (const [at, command] of commands.entries()) {
    const before = node;
    node = runCommand(node, command);
    if (same(before, node)) continue;
    pending.push(shortText(command));
    const following = commands[at + 1];
    const joined = subject && 'peer' in command && following !== undefined && 'peer' in following;
    const opened =
      command.do === 'new-peer' ||
      (command.do === 'bitmap' && following?.do === 'connect') ||
      (command.do === 'tiebreaker' && following?.do === 'connect');
    if (joined || opened) continue;
    rungs.push(node);
    history.push([...past, ...commands.slice(0, at + 1)]);
    texts.push(pending.join('; '));
    pending = [];
  }
  return { rungs, commands: texts, history };
}

/** A client that no plan moves counts nowhere, so that its own commands are taken as run at once. */
function leapOf(
  start: ModelNode | undefined,
  commands: readonly NodeCommand[],
  past: readonly NodeCommand[],
): Ladder {
  if (start === undefined) throw new Error('a node without a start');
  return { rungs: [commands.reduce(runCommand, start)], commands: [], history: [[...past, ...commands]] };
}

const isUnseen = (scenario: Scenario, name: string): boolean =>
  scenario.members.some((member) => member.name === name && member.type === 'A') &&
  scenario.tracks.every((track) => track.member !== name);

const same = (a: ModelNode, b: ModelNode): boolean => JSON.stringify(a) === JSON.stringify(b);

const shortText = (command: NodeCommand): string =>
  renderCommand(command, 'r', false)
    .replace('drbdsetup ', '')
    .replace(/ <id:([^>]*)>/u, ' $1')
    .replace(/ --_name.*--allow-remote-read/u, ' --allow-remote-read')
    .replace(/ --c-plan.*$/u, '')
    .replace(/^new-resource.*$/u, 'new-resource')
    .replace(/ r\b/u, '');
