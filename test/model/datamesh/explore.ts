import { at } from './bits.ts';
import { graphsOf, partitionsByDead } from './cuts.ts';
import { EVENTS, eventOf } from './events.ts';
import { DEAD, Machine } from './machine.ts';
import { freshMeasures, measureFtt, measureState, rungOf, type Measures } from './measures.ts';
import { StateStore } from './state-store.ts';
import { canonicalise, swapNodes } from './symmetry.ts';
import {
  CONNECTS,
  FIELD_COUNT,
  FLAGS,
  NOWHERE,
  VOTERS,
  WITHOUT_BITMAP,
  type Phase,
  type Tables,
} from './tables.ts';

/** All that an exploration found. */
export interface Exploration {
  readonly tables: Tables;
  readonly store: StateStore;
  readonly measures: Measures;
  readonly states: number;
  readonly transitions: number;
}

export interface ExploreOptions {
  /** Stop when so many states are known; the result then says less. */
  readonly maxStates?: number;
  /** Leave out what is lost by failures: the other invariants only. */
  readonly withoutFtt?: boolean;
  /** Stop at the first state that two partitions serve in. */
  readonly stopAtSplit?: boolean;
}

const MAX_STATES = 60_000_000;

/** Explores everything that a scenario can become, breadth first, so that what is found first is shortest. */
export function explore(tables: Tables, options: ExploreOptions = {}): Exploration {
  return new Explorer(tables, options).run();
}

class Explorer {
  private readonly tables: Tables;
  private readonly options: ExploreOptions;
  /** The state that is expanded, and the one that is made from it. */
  private readonly source: Machine;
  private readonly machine: Machine;
  private readonly store = new StateStore();
  private readonly measures = freshMeasures();
  /** Where the network may be cut, by the node that has crashed; the last is for none. */
  private readonly partitions: readonly (readonly Uint8Array[])[];
  private readonly graphs: Int32Array;
  private readonly primary: number;
  /** Whether two-phase commits change anything: voters are dynamic, or somebody is seen through others only. */
  private readonly settles: boolean;
  private readonly twin: Int8Array;
  private transitions = 0;
  private states = 0;
  private current = -1;

  constructor(tables: Tables, options: ExploreOptions) {
    this.tables = tables;
    this.options = options;
    this.source = new Machine(tables);
    this.twin = new Int8Array(tables.nodes);
    this.machine = new Machine(tables);
    const { network, primary, members, kernel } = tables.scenario;
    this.settles = kernel.dynamicVoters || network.cuts === 'graphs';
    this.partitions =
      network.cuts === 'graphs' ? [] : partitionsByDead(tables.nodes, network.cuts === 'halves');
    this.graphs = network.cuts === 'graphs' ? graphsOf(tables.nodes) : new Int32Array(0);
    this.primary = members.findIndex((member) => member.name === primary);
  }

  run(): Exploration {
    const limit = this.options.maxStates ?? MAX_STATES;
    this.machine.start();
    this.keep(0);
    for (this.current = 0; this.current < this.store.size; this.current += 1) {
      if (this.store.size > limit) break;
      if (this.options.stopAtSplit === true && this.measures.splitBrain >= 0) break;
      this.expand();
    }
    if (this.store.size > limit && this.options.maxStates === undefined)
      throw new Error(`${this.tables.scenario.name}: more than ${limit} states`);
    return {
      tables: this.tables,
      store: this.store,
      measures: this.measures,
      states: this.states,
      transitions: this.transitions,
    };
  }

  /** Stores the machine's state as the event left it. What follows from it is derived once, when its turn comes. */
  private keep(event: number): void {
    canonicalise(this.machine);
    this.transitions += 1;
    this.store.add(this.machine, this.current, event);
  }

  /**
   * Takes up the next state and derives what follows from it. A state in which nobody gains or loses quorum by that is
   * judged and expanded; any other stands for the one that it becomes, which is stored in its place.
   */
  private takeUp(): Phase | null {
    const { source, machine, measures, current } = this;
    this.store.load(current, source);
    const { sticky, synced } = source;
    source.derive();
    if (source.sticky !== sticky || source.synced !== synced) {
      const { parent, event } = this.store.origin(current);
      machine.copyFrom(source);
      canonicalise(machine);
      this.store.add(machine, parent, event);
      return null;
    }
    this.states += 1;
    measureState(source, current, measures);
    if (this.options.withoutFtt !== true) measureFtt(source, current, measures);
    const phase = this.tables.phases[source.phase];
    if (phase === undefined) throw new Error('a state without a phase');
    return phase;
  }

  /** A copy of the state to change. */
  private fresh(): Machine {
    this.machine.copyFrom(this.source);
    return this.machine;
  }

  private expand(): void {
    const phase = this.takeUp();
    if (phase === null) return;
    const { source } = this;
    this.findTwins(phase);
    const before = this.transitions;
    this.commands(phase);
    this.advances(phase);
    this.syncs();
    const quiet = source.cut === 0 && source.crashed === 0;
    const atEnd = at(phase.next, 0) < 0 && (phase.next.length < 2 || at(phase.next, 1) < 0);
    if (quiet && atEnd) this.judgeEnd();
    if (!atEnd && this.transitions === before && this.measures.stuck < 0 && this.mustGoOn(phase))
      this.measures.stuck = this.current;
    this.settling();
    this.forceRemoves(phase);
    this.crashes();
    this.cuts();
  }

  /** Nothing has failed; or one member was lost, and it was force-removed, or no guard says why it cannot be. */
  private mustGoOn(phase: Phase): boolean {
    const { source } = this;
    if (source.cut !== 0) return false;
    const dead = source.deadNode();
    if (dead === source.nodes) return true;
    // Two plans that overlap are not asked to go on without a member: that is asked of each alone.
    if (phase.stages.length > 1) return false;
    return phase.lost === dead || (phase.lost < 0 && at(phase.forced, dead) === NOWHERE);
  }

  /** Nodes of one class in the same state: what one of them does, the next would only repeat. */
  private findTwins(phase: Phase): void {
    const { source, twin } = this;
    twin.fill(-1);
    for (const nodes of phase.classes) {
      for (let i = 1; i < nodes.length; i += 1) {
        const [a, b] = [nodes[i - 1] as number, nodes[i] as number];
        const alike =
          at(source.place, a) === at(source.place, b) &&
          at(source.group, a) === at(source.group, b) &&
          ((source.sticky >> a) & 1) === ((source.sticky >> b) & 1) &&
          ((source.outdated >> a) & 1) === ((source.outdated >> b) & 1);
        if (alike) twin[b] = a;
      }
    }
  }

  /** A plan that has ended leaves no voter without its disk. */
  private judgeEnd(): void {
    const { source, measures } = this;
    if (measures.ended < 0) measures.ended = this.current;
    let counted = 0;
    for (let node = 0; node < source.nodes; node += 1) {
      if ((source.alive & (1 << node)) !== 0) counted |= source.field(node, VOTERS);
    }
    if ((counted & source.alive & ~source.disks) !== 0 && measures.stranded < 0)
      measures.stranded = this.current;
  }

  private commands(phase: Phase): void {
    const { source, tables } = this;
    const tracks = phase.stages.length;
    for (let node = 0; node < source.nodes; node += 1) {
      if (at(source.group, node) === DEAD || node === phase.lost || (this.twin[node] as number) >= 0)
        continue;
      const row = source.row(node);
      for (let track = 0; track < tracks; track += 1) {
        const next = at(tables.up, row * 2 + track);
        if (next < 0 || this.refuses(node, row, next)) continue;
        if (phase.stages[track]?.rolling === true && !this.hasTurn(phase, track, node)) continue;
        const machine = this.fresh();
        machine.place[node] = at(machine.place, node) + next - row;
        this.keep(eventOf(EVENTS.command, node * 2 + track));
      }
    }
  }

  /** In a rolling step a node begins only when no other that lives is between its commands. */
  private hasTurn(phase: Phase, track: number, node: number): boolean {
    const { source } = this;
    if (rungOf(source, phase, track, node) > 0) return true;
    for (let other = 0; other < source.nodes; other += 1) {
      if (other === node || at(source.group, other) === DEAD) continue;
      const begun = rungOf(source, phase, track, other) > 0;
      if (begun && at(this.tables.up, source.row(other) * 2 + track) >= 0) return false;
    }
    return true;
  }

  /** What DRBD itself refuses: a disk behind a peer without a bitmap for it, and a bitmap dropped between two disks. */
  private refuses(node: number, row: number, next: number): boolean {
    const { source, tables } = this;
    const value = (which: number, field: number): number => at(tables.rows, which * FIELD_COUNT + field);
    const gainsDisk = (value(next, FLAGS) & 2) > (value(row, FLAGS) & 2);
    const drops = value(next, WITHOUT_BITMAP) & ~value(row, WITHOUT_BITMAP) & value(next, CONNECTS);
    if (!gainsDisk && drops === 0) return false;
    for (let peer = 0; peer < source.nodes; peer += 1) {
      const bit = 1 << peer;
      // Two plans that overlap are made without each other; what their members hold of one another is not judged.
      const strangers =
        tables.subjects.length > 1 && tables.subjects.includes(peer) && tables.subjects.includes(node);
      if ((at(source.real, node) & bit) === 0 || strangers) continue;
      if (gainsDisk && (source.field(peer, WITHOUT_BITMAP) & (1 << node)) !== 0) return true;
      if ((drops & bit) !== 0 && (source.disks & (1 << node)) !== 0 && (source.disks & bit) !== 0)
        return true;
    }
    return false;
  }

  /** A track goes on to its next step when all who must have confirmed it, and what it waits for is there. */
  private advances(phase: Phase): void {
    const { source, tables } = this;
    for (let track = 0; track < phase.stages.length; track += 1) {
      const next = at(phase.next, track);
      if (next < 0 || !this.confirmed(phase, track, -1)) continue;
      const subject = at(phase.waitsFor, track);
      if (subject >= 0 && (source.upToDate & (1 << subject)) === 0) continue;
      const after = tables.phases[next];
      if (after === undefined) throw new Error('a phase that is not there');
      const machine = this.fresh();
      this.move(machine, phase, after, track);
      machine.phase = next;
      this.keep(eventOf(EVENTS.advance, track));
    }
  }

  /** Every node starts the next step's ladder from below; its place on the other track's ladder stays. */
  private move(machine: Machine, phase: Phase, after: Phase, track: number): void {
    for (let node = 0; node < machine.nodes; node += 1) {
      if (node === phase.lost) continue;
      const width = at(phase.width, node);
      const place = at(machine.place, node);
      machine.place[node] = track === 0 ? place % width : Math.floor(place / width) * at(after.width, node);
    }
  }

  private confirmed(phase: Phase, track: number, except: number): boolean {
    const { source, tables } = this;
    const confirm = at(phase.confirm, track);
    for (let node = 0; node < source.nodes; node += 1) {
      if (node === except || node === phase.lost || (confirm & (1 << node)) === 0) continue;
      if (at(source.group, node) === DEAD) return false;
      if (at(tables.up, source.row(node) * 2 + track) >= 0) return false;
    }
    return true;
  }

  /** A disk that is not UpToDate synchronises from one that is. */
  private syncs(): void {
    const { source, tables } = this;
    for (let track = 0; track < tables.subjects.length; track += 1) {
      const subject = tables.subjects[track] as number;
      if (subject < 0 || (source.disks & (1 << subject)) === 0 || (source.synced & (1 << track)) !== 0)
        continue;
      if ((at(source.real, subject) & source.upToDate) === 0) continue;
      this.fresh().synced |= 1 << track;
      this.keep(eventOf(EVENTS.sync, track));
    }
  }

  private settling(): void {
    const { source } = this;
    if (source.unnoticed !== 0) {
      this.fresh().unnoticed = 0;
      this.keep(eventOf(EVENTS.notice, 0));
    } else if (source.settled === 0 && this.settles && (source.cut !== 0 || source.crashed !== 0)) {
      const machine = this.fresh();
      const far = this.tables.scenario.withoutOutdating === true ? 0 : source.farFrom(this.primary);
      machine.settled = 1;
      machine.outdated |= far;
      this.keep(eventOf(EVENTS.settle, 0));
    }
  }

  /** Where a step has ended for everyone else, a member that nobody sees can be force-removed. */
  private forceRemoves(phase: Phase): void {
    const { source } = this;
    if (phase.stages.length > 1 || phase.lost >= 0 || source.unnoticed !== 0) return;
    for (let node = 0; node < source.nodes; node += 1) {
      const dead = at(source.group, node) === DEAD;
      const seen = !dead && at(source.real, node) !== 0;
      if ((!dead && source.cut === 0) || (seen && this.tables.scenario.forceRemoveConnected !== true))
        continue;
      // Alone and without quorum it never serves again: it may as well be dead.
      const gone = dead || (!seen && (source.sticky & (1 << node)) === 0);
      if (at(gone ? phase.forcedDead : phase.forced, node) >= 0 && this.confirmed(phase, 0, node))
        this.force(phase, node, gone);
    }
  }

  private force(phase: Phase, node: number, gone: boolean): void {
    const machine = this.fresh();
    const kind = phase.classes.find((nodes) => nodes.includes(node));
    // Only one of a class has stages of its own; any other takes its place first.
    const last = kind?.at(-1) ?? node;
    if (last !== node) swapNodes(machine, node, last);
    const kept = gone ? 0 : at(machine.place, last);
    machine.place.fill(0);
    machine.place[last] = kept;
    if (gone) machine.group[last] = DEAD;
    machine.phase = at(gone ? phase.forcedDead : phase.forced, last);
    this.keep(eventOf(EVENTS.force, last));
  }

  private crashes(): void {
    const { source, tables } = this;
    if (source.crashed !== 0 || !tables.scenario.network.crash) return;
    for (let node = 0; node < source.nodes; node += 1) {
      const bit = 1 << node;
      if ((source.alive & bit) === 0 || (this.twin[node] as number) >= 0) continue;
      // One that is alone and has no quorum is as good as dead: its crash would only end what can happen.
      if (at(source.real, node) === 0 && (source.sticky & bit) === 0) continue;
      const machine = this.fresh();
      machine.group[node] = DEAD;
      machine.sticky &= ~(1 << node);
      // What a dead node had run matters to nobody, unless it is new and some peers have met it.
      if (!source.isNewcomer(node)) machine.place[node] = 0;
      machine.crashed = 1;
      machine.settled = 0;
      this.keep(eventOf(EVENTS.crash, node));
    }
  }

  private cuts(): void {
    const { source, tables } = this;
    if (source.cut !== 0) return;
    for (const labels of this.partitions[source.deadNode()] ?? []) {
      if (this.repeats(labels)) continue;
      this.cutInto(labels, 0);
      if (!tables.scenario.network.unnoticed) continue;
      for (let group = 0; group < source.nodes && labels.includes(group); group += 1)
        this.cutInto(labels, group + 1);
    }
    for (let number = 0; number < this.graphs.length; number += 1) {
      const machine = this.fresh();
      machine.graph = at(this.graphs, number);
      machine.cut = 1;
      machine.settled = 0;
      this.keep(eventOf(EVENTS.cut, 0));
    }
  }

  /** A partition that differs from another only in which of two twins is where: only the sorted one is taken. */
  private repeats(labels: Uint8Array): boolean {
    for (let node = 1; node < labels.length; node += 1) {
      const other = this.twin[node] as number;
      if (other >= 0 && at(labels, other) > at(labels, node)) return true;
    }
    return false;
  }

  private cutInto(labels: Uint8Array, unnoticed: number): void {
    const machine = this.fresh();
    for (let node = 0; node < machine.nodes; node += 1) {
      if (at(machine.group, node) !== DEAD) machine.group[node] = at(labels, node);
    }
    machine.cut = 1;
    machine.settled = 0;
    machine.unnoticed = unnoticed;
    this.keep(eventOf(EVENTS.cut, 0));
  }
}
