import { at, count } from './bits.ts';
import { BY_TIE, DEAD, type Machine } from './machine.ts';
import { MAX_NODES } from './scenario.ts';
import { FLAGS, GHOST_TIES, Q, QMR, VOTERS, type Phase, type Tables } from './tables.ts';

/** What goes worst in a scenario, each with the state that shows it first; -1 where nothing does. */
export interface Measures {
  /** Two partitions that serve writes at once. */
  splitBrain: number;
  /** The fewest copies of a write that a counted quorum acknowledges, and that a broken tie does. */
  copiesByCount: number;
  copiesByCountAt: number;
  copiesByTie: number;
  copiesByTieAt: number;
  /** The same for a write that a node without a disk acknowledges, which has quorum by that of its peers. */
  copiesByClient: number;
  copiesByClientAt: number;
  /** A disk that serves nothing although nothing has failed. */
  interrupted: number;
  /**
   * The failures that are survived at once in the worst mixed state, whichever nodes have run whichever of their commands;
   * but for the moment in which a node has deleted a peer without a disk and not yet forgotten it. There the kernel counts
   * the peer as a missing tie-breaker, and DRBD has no command that does both: `fttUnforgotten` is what is survived there.
   */
  ftt: number;
  fttAt: number;
  fttUnforgotten: number;
  fttUnforgottenAt: number;
  /** By set of members lost at once: whether the rest serves in every one of those mixed states. Zones are such sets. */
  losses: Uint8Array;
  /** As `ftt`, when two-phase commits have settled who is a member. */
  fttSettled: number;
  /** A plan that ended with a voter that has no disk. */
  stranded: number;
  /** A state from which nothing goes on, although nothing has failed. */
  stuck: number;
  /** The plan's end was reached. */
  ended: number;
}

export const freshMeasures = (): Measures => ({
  splitBrain: -1,
  copiesByCount: 9,
  copiesByCountAt: -1,
  copiesByTie: 9,
  copiesByTieAt: -1,
  copiesByClient: 9,
  copiesByClientAt: -1,
  interrupted: -1,
  ftt: 9,
  fttAt: -1,
  fttUnforgotten: 9,
  fttUnforgottenAt: -1,
  losses: new Uint8Array(1 << MAX_NODES).fill(1),
  fttSettled: 9,
  stranded: -1,
  stuck: -1,
  ended: -1,
});

/** Evaluates every invariant on one new state. */
export function measureState(machine: Machine, index: number, measures: Measures): void {
  const { serving, nodes } = machine;
  let first = 0;
  for (let node = 0; node < nodes; node += 1) {
    const bit = 1 << node;
    if ((serving & bit) === 0) continue;
    const component = at(machine.component, node);
    if (first === 0) first = component;
    else if (component !== first && measures.splitBrain < 0) measures.splitBrain = index;
    measureCopies(machine, node, index, measures);
  }
  if (serving !== 0) measureClients(machine, index, measures);
  if (machine.cut === 0 && machine.crashed === 0 && measures.interrupted < 0 && isInterrupted(machine))
    measures.interrupted = index;
}

function measureCopies(machine: Machine, node: number, index: number, measures: Measures): void {
  const bit = 1 << node;
  const reach = at(machine.real, node) | bit;
  const copies = count(reach & machine.upToDate);
  if (at(machine.how, node) !== BY_TIE) {
    if (copies >= measures.copiesByCount) return;
    measures.copiesByCount = copies;
    measures.copiesByCountAt = index;
  } else if (isPromised(machine, reach) && copies < measures.copiesByTie) {
    measures.copiesByTie = copies;
    measures.copiesByTieAt = index;
  }
}

/** Without a disk a node writes to the peers that it sees itself, and has quorum if one of them has: all of qmr, if checked. */
function measureClients(machine: Machine, index: number, measures: Measures): void {
  const { clientChecksQmr } = machine.tables.scenario.kernel;
  for (
    let clients = machine.alive & ~machine.disks & machine.attachable;
    clients !== 0;
    clients &= clients - 1
  ) {
    const node = 31 - Math.clz32(clients & -clients);
    const believed = at(machine.believed, node);
    const quorate = believed & machine.field(node, VOTERS) & machine.upToDate & machine.sticky;
    const real = at(machine.real, node);
    const waits = (believed & ~real & machine.disks) !== 0;
    const copies = count(real & machine.upToDate);
    if (waits || copies >= measures.copiesByClient) continue;
    if (hasTie(machine, quorate) && !isPromised(machine, real)) continue;
    if (quorate === 0 || (clientChecksQmr && count(quorate) < machine.field(node, QMR))) continue;
    measures.copiesByClient = copies;
    measures.copiesByClientAt = index;
  }
}

/**
 * What a broken tie promises: the kernel does not ask for qmr then, so nothing while a disk still synchronises, and
 * nothing once a member was force-removed and the number of voters is not the layout's.
 */
const isPromised = (machine: Machine, reach: number): boolean =>
  (reach & machine.disks & ~machine.upToDate) === 0 && (machine.tables.phases[machine.phase]?.lost ?? -1) < 0;

const hasTie = (machine: Machine, nodes: number): boolean => {
  for (let node = 0; node < machine.nodes; node += 1)
    if ((nodes & (1 << node)) !== 0 && at(machine.how, node) === BY_TIE) return true;
  return false;
};

/** Nothing has failed, and yet a voter with all data does not serve. */
function isInterrupted(machine: Machine): boolean {
  for (let node = 0; node < machine.nodes; node += 1) {
    const bit = 1 << node;
    const voter = machine.field(node, Q) !== 32 && (machine.field(node, FLAGS) & 6) === 2;
    if (voter && (machine.upToDate & bit) !== 0 && (machine.serving & bit) === 0) return true;
  }
  return false;
}

/** Losing this set of members at once: 1 if the rest serves at once, 2 if when its nodes are done, 4 if settled too. */
export function survives(machine: Machine, lost: number): number {
  const saved = saveMachine(machine);
  for (let node = 0; node < machine.nodes; node += 1)
    if ((lost & (1 << node)) !== 0) machine.group[node] = DEAD;
  machine.derive();
  let result = machine.serving === 0 ? 0 : 1;
  climb(machine);
  if (machine.serving !== 0) {
    result |= 2;
    machine.settled = 1;
    machine.derive();
    if (machine.serving !== 0) result |= 4;
  }
  restoreMachine(machine, saved);
  return result;
}

/** Survivors that have begun this step's commands finish them, one at a time; once a member is lost, nobody begins. */
function climb(machine: Machine): void {
  const { tables, nodes } = machine;
  const tracks = tables.subjects.length;
  for (let node = 0; node < nodes; node += 1) {
    if ((machine.alive & (1 << node)) === 0 || at(machine.place, node) === 0) continue;
    for (let track = 0; track < tracks; track += 1) {
      for (;;) {
        const next = at(tables.up, machine.row(node) * 2 + track);
        if (next < 0) break;
        machine.place[node] = at(machine.place, node) + next - machine.row(node);
        machine.derive();
      }
    }
  }
}

/** The failures survived from a state in which nothing has failed yet. */
export function measureFtt(machine: Machine, index: number, measures: Measures): void {
  if (machine.cut !== 0 || machine.crashed !== 0) return;
  const now = tolerance(machine);
  if (!isWithin(machine)) measures.fttSettled = Math.min(measures.fttSettled, now.settled);
  if (hasUnforgotten(machine)) {
    if (now.atOnce >= measures.fttUnforgotten) return;
    measures.fttUnforgotten = now.atOnce;
    measures.fttUnforgottenAt = index;
    return;
  }
  measureLosses(machine, measures.losses);
  if (now.atOnce >= measures.ftt) return;
  measures.ftt = now.atOnce;
  measures.fttAt = index;
}

/** Strikes out every set of members whose loss is not survived here; what is struck out already is not asked again. */
export function measureLosses(machine: Machine, losses: Uint8Array): void {
  const all = 1 << machine.nodes;
  for (let lost = 0; lost < all; lost += 1)
    if (at(losses, lost) !== 0 && (survives(machine, lost) & 1) === 0) losses[lost] = 0;
}

/** Whether some node has deleted a peer without a disk and not yet forgotten it. */
function hasUnforgotten(machine: Machine): boolean {
  for (let node = 0; node < machine.nodes; node += 1) if (machine.field(node, GHOST_TIES) !== 0) return true;
  return false;
}

/** How many commands of its present step a node has run for a track. */
export function rungOf(machine: Machine, phase: Phase, track: number, node: number): number {
  const width = at(phase.width, node);
  const place = at(machine.place, node);
  return track === 0 ? Math.floor(place / width) : place % width;
}

/** Whether some node is between two of its commands. */
function isWithin(machine: Machine): boolean {
  const { tables, nodes } = machine;
  const phase = tables.phases[machine.phase];
  if (phase === undefined) return false;
  for (let node = 0; node < nodes; node += 1)
    for (let track = 0; track < phase.stages.length; track += 1)
      if (rungOf(machine, phase, track, node) > 0 && at(tables.up, machine.row(node) * 2 + track) >= 0)
        return true;
  return false;
}

/** How many members can be lost, whichever they are: -1 when it does not even serve with all of them. */
export function tolerance(machine: Machine): {
  readonly atOnce: number;
  readonly done: number;
  readonly settled: number;
} {
  const { nodes, alive } = machine;
  const worst = [survives(machine, 0), 7, 7];
  for (let a = 0; a < nodes; a += 1) {
    if ((alive & (1 << a)) === 0) continue;
    worst[1] = (worst[1] as number) & survives(machine, 1 << a);
  }
  if (worst[1] !== 0) {
    for (let a = 1; a < nodes; a += 1) {
      for (let b = 0; b < a; b += 1) {
        const lost = (1 << a) | (1 << b);
        if ((alive & lost) === lost) worst[2] = (worst[2] as number) & survives(machine, lost);
      }
    }
  } else worst[2] = 0;
  if (count(alive) < 3) worst[2] = 0;
  const level = (bit: number): number => {
    let failures = -1;
    for (const survived of worst) {
      if ((survived & bit) === 0) break;
      failures += 1;
    }
    return failures;
  };
  return { atOnce: level(1), done: level(2), settled: level(4) };
}

interface Saved {
  readonly place: Uint8Array;
  readonly group: Uint8Array;
  readonly sticky: number;
  readonly synced: number;
  readonly settled: number;
}

function saveMachine(machine: Machine): Saved {
  return {
    place: machine.place.slice(),
    group: machine.group.slice(),
    sticky: machine.sticky,
    synced: machine.synced,
    settled: machine.settled,
  };
}

function restoreMachine(machine: Machine, saved: Saved): void {
  machine.place.set(saved.place);
  machine.group.set(saved.group);
  machine.sticky = saved.sticky;
  machine.synced = saved.synced;
  machine.settled = saved.settled;
  machine.derive();
}

/** The mask of the nodes in a zone. */
export const zoneMask = (tables: Tables, zone: string): number =>
  tables.scenario.members.reduce(
    (mask, member, node) => (member.zone === zone ? mask | (1 << node) : mask),
    0,
  );
