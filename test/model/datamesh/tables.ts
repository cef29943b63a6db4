import { compileTrack, startNodes, type Stage } from './compile.ts';
import { runCommand, type ModelNode } from './node-model.ts';
import { MAX_NODES, type Scenario } from './scenario.ts';

/** What a row holds of a node, as bit masks over peers; see `FIELDS` for the order. */
export const FIELD_COUNT = 9;
export const Q = 0;
export const QMR = 1;
/** Peers that it tries to be connected to. */
export const CONNECTS = 2;
/** Peers that count as voters when they are there. */
export const VOTERS = 3;
/** Peers that count as tie-breakers. */
export const TIES = 4;
/** Voters that are deleted but not forgotten. */
export const GHOSTS = 5;
export const GHOST_TIES = 6;
/** Bit 0: up. Bit 1: a disk is attached. Bit 2: its own disk does not vote. */
export const FLAGS = 7;
/** Peers for which it keeps no bitmap. */
export const WITHOUT_BITMAP = 8;

/** A node's place on its ladders has five bits in a stored state. */
const MAX_PLACES = 32;
export const NOWHERE = -1;
export const REFUSED = -2;

/** One combination of stages, in which the nodes climb their ladders. */
export interface Phase {
  readonly stages: readonly Stage[];
  readonly label: string;
  /** First row of each node; a node's place on its ladders is its offset from it. */
  readonly base: Int32Array;
  /** How many rungs each node has on the second track's ladder: the offset is first × this + second. */
  readonly width: Int32Array;
  /** By track: the phase after its stage, or -1. */
  readonly next: Int32Array;
  readonly confirm: Int32Array;
  readonly waitsFor: Int32Array;
  /** By node: the phase after its force-removal, or NOWHERE, or where a guard refuses it REFUSED. */
  readonly forced: Int32Array;
  /** The same for a node that has crashed: what it had run does not matter. */
  readonly forcedDead: Int32Array;
  readonly lost: number;
  /** Nodes that are alike, so that only their multiset matters. */
  readonly classes: readonly (readonly number[])[];
}

/** A scenario as numbers. */
export interface Tables {
  readonly scenario: Scenario;
  readonly nodes: number;
  readonly phases: readonly Phase[];
  readonly rows: Int32Array;
  /** By row and track: the row after the next command, or -1. */
  readonly up: Int32Array;
  /** Nodes that are moved by a track, whose disks are UpToDate only when synchronised. */
  readonly subjects: readonly number[];
}

/** Compiles a scenario. */
export function compileScenario(scenario: Scenario): Tables {
  const nodes = scenario.members.length;
  if (nodes > MAX_NODES) throw new Error(`${scenario.name}: ${nodes} nodes are more than ${MAX_NODES}`);
  const start = startNodes(scenario);
  const build = new TableBuilder(scenario, nodes);
  build.phaseOf(scenario.tracks.map((track) => compileTrack(scenario, track, start)));
  return build.done();
}

class TableBuilder {
  private readonly scenario: Scenario;
  private readonly nodes: number;
  private readonly ids = new Map<string, number>();
  private readonly stageIds = new Map<Stage, number>();
  private readonly contents = new Map<string, number>();
  private readonly phases: Phase[] = [];
  private readonly rows: number[] = [];
  private readonly up: number[] = [];

  constructor(scenario: Scenario, nodes: number) {
    this.scenario = scenario;
    this.nodes = nodes;
  }

  /** The phase of these stages, built with all that follow it. */
  phaseOf(stages: readonly Stage[]): number {
    const key = stages.map((stage) => this.stageId(stage)).join();
    const known = this.ids.get(key);
    if (known !== undefined) return known;
    const id = this.phases.length;
    this.ids.set(key, id);
    const tracks = stages.length;
    const phase: Phase = {
      stages,
      label: stages.map((stage) => stage.label).join(' ∥ '),
      base: new Int32Array(this.nodes),
      width: new Int32Array(this.nodes),
      next: new Int32Array(tracks).fill(-1),
      confirm: Int32Array.from(stages, (stage) => stage.confirm),
      waitsFor: Int32Array.from(stages, (stage) => stage.waitsFor),
      forced: new Int32Array(this.nodes).fill(NOWHERE),
      forcedDead: new Int32Array(this.nodes).fill(NOWHERE),
      lost: stages[0]?.lost ?? -1,
      classes: this.classesOf(stages[0]?.lost ?? -1),
    };
    this.phases.push(phase);
    for (let node = 0; node < this.nodes; node += 1) this.addRows(phase, node);
    stages.forEach((stage, track) => {
      if (stage.next !== null)
        phase.next[track] = this.phaseOf(stages.map((one, at) => (at === track ? (stage.next ?? one) : one)));
    });
    if (tracks === 1)
      stages[0]?.forced.forEach((stage, node) => {
        if (stage === null) return;
        phase.forced[node] = stage === 'refused' ? REFUSED : this.phaseOf([stage.alive]);
        phase.forcedDead[node] = stage === 'refused' ? REFUSED : this.phaseOf([stage.dead]);
      });
    return id;
  }

  /** Stages in which all nodes do the same are one, whatever they are called: plans that meet go on together. */
  private stageId(stage: Stage): number {
    const known = this.stageIds.get(stage);
    if (known !== undefined) return known;
    const { ladders, confirm, waitsFor, rolling, lost, next, forced } = stage;
    const idOf = (one: Stage | 'refused' | null): number | string | null =>
      one === null || one === 'refused' ? one : this.stageId(one);
    const alone = this.scenario.tracks.length === 1;
    const content = JSON.stringify([
      ladders.map(({ rungs, history }) => (alone ? rungs : [rungs, history])),
      [confirm, waitsFor, rolling, lost, idOf(next)],
      forced.map((one) => (one === null || one === 'refused' ? one : [idOf(one.alive), idOf(one.dead)])),
    ]);
    const id = this.contents.get(content) ?? this.contents.size;
    this.contents.set(content, id);
    this.stageIds.set(stage, id);
    return id;
  }

  /** Members of one type that no track moves are alike; but not tie-breakers, of which plans keep only the first. */
  private classesOf(lost: number): readonly (readonly number[])[] {
    const { members, tracks, primary, network } = this.scenario;
    // In a connection graph every node has its own place.
    if (network.cuts === 'graphs') return [];
    const moved = new Set(tracks.map((track) => track.member));
    const free = members.flatMap((member, at) =>
      moved.has(member.name) || at === lost || member.name === primary ? [] : [at],
    );
    return (['D', 'A', 'sD'] as const)
      .map((type) =>
        free.filter((at) => members[at]?.type === type && members[at].upToDate === (type !== 'A')),
      )
      .filter((nodes) => nodes.length > 1);
  }

  private addRows(phase: Phase, node: number): void {
    const [first, second] = phase.stages.map((stage) => stage.ladders[node]);
    const width = second?.rungs.length ?? 1;
    phase.base[node] = this.rows.length / FIELD_COUNT;
    phase.width[node] = width;
    const rungs = first?.rungs ?? [];
    if (rungs.length * width > MAX_PLACES)
      throw new Error(`${this.scenario.name}: more than ${MAX_PLACES} places of one node`);
    rungs.forEach((rung, a) => {
      for (let b = 0; b < width; b += 1) {
        const row = this.rows.length / FIELD_COUNT;
        const model = (second?.history[b] ?? []).reduce(runCommand, rung);
        this.rows.push(...this.fieldsOf(model));
        this.up.push(a + 1 < rungs.length ? row + width : -1, b + 1 < width ? row + 1 : -1);
      }
    });
  }

  private fieldsOf(node: ModelNode): readonly number[] {
    const mask = (has: (peer: NonNullable<ModelNode['peers'][string]>) => boolean): number =>
      this.scenario.members.reduce((bits, member, at) => {
        const peer = node.peers[member.name];
        return peer !== undefined && has(peer) ? bits | (1 << at) : bits;
      }, 0);
    return [
      node.q,
      node.qmr,
      mask((peer) => peer.connecting && !peer.ghost),
      mask((peer) => !peer.ghost && peer.remoteRead && peer.bitmap),
      mask((peer) => !peer.ghost && peer.remoteRead && !peer.bitmap && peer.tiebreaker),
      mask((peer) => peer.ghost && peer.bitmap),
      mask((peer) => peer.ghost && !peer.bitmap),
      (node.up ? 1 : 0) | (node.disk ? 2 : 0) | (node.nonVoting ? 4 : 0),
      mask((peer) => !peer.bitmap),
    ];
  }

  done(): Tables {
    const { scenario } = this;
    const limit = scenario.network.cuts === 'graphs' ? 1 << 8 : 1 << 18;
    if (this.phases.length > limit) throw new Error(`${scenario.name}: more than ${limit} phases`);
    return {
      scenario,
      nodes: this.nodes,
      phases: this.phases,
      rows: Int32Array.from(this.rows),
      up: Int32Array.from(this.up),
      subjects: scenario.tracks.map((track) =>
        scenario.members.findIndex((member) => member.name === track.member),
      ),
    };
  }
}
