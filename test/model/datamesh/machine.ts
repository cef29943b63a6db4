import { at, count } from './bits.ts';
import {
  CONNECTS,
  FIELD_COUNT,
  FLAGS,
  GHOST_TIES,
  GHOSTS,
  Q,
  QMR,
  TIES,
  VOTERS,
  type Tables,
} from './tables.ts';

const CACHE_BITS = 12;
const CACHE_STRIDE = 12;
const GROUP_MASKS = new Int32Array(8);

export const DEAD = 7;
export const FULL_GRAPH = 0x3ff;
/** The bit of the connection between two of up to five nodes. */
export const EDGE = Int32Array.from({ length: 49 }, (_, code) => {
  const low = Math.min(Math.floor(code / 7), code % 7);
  const high = Math.max(Math.floor(code / 7), code % 7);
  return low === high || high > 4 ? 0 : 1 << ((high * (high - 1)) / 2 + low);
});

/** How a node came to have quorum. */
export const LOST = 0;
export const BY_COUNT = 1;
export const BY_TIE = 2;

/** One state, unpacked, and everything that follows from it. */
export class Machine {
  readonly tables: Tables;
  readonly nodes: number;
  /** Whether the network is a connection graph; else it is groups. */
  readonly graphs: boolean;
  /** Each node's place on its ladders, and its network group (or DEAD). */
  readonly place: Uint8Array;
  readonly group: Uint8Array;
  phase = 0;
  /** Masks: who had quorum, whose disk is outdated; by track, whether its subject has synchronised. */
  sticky = 0;
  outdated = 0;
  synced = 0;
  settled = 0;
  /** One more than the group that has not noticed the cut, or 0. */
  unnoticed = 0;
  cut = 0;
  crashed = 0;
  graph = FULL_GRAPH;

  /** Derived: connections that are there, those that a node believes in, components, and how each has quorum. */
  readonly real: Int32Array;
  readonly believed: Int32Array;
  readonly component: Int32Array;
  /** Peers that have been connected once: a newcomer that never was does not count as a missing tie-breaker. */
  readonly met: Int32Array;
  readonly how: Uint8Array;
  alive = 0;
  disks = 0;
  upToDate = 0;
  serving = 0;

  /** Members that may be attached: those that neither join nor leave; of two plans that overlap, those that neither moves. */
  readonly attachable: number;
  private readonly rowOf: Int32Array;
  private readonly stale: number;
  private readonly newcomers: number;
  private strangers = 0;
  private configuredUp = 0;
  private configuredDisks = 0;
  private phaseBase: Int32Array = new Int32Array(0);
  private readonly cache = new Int32Array((1 << CACHE_BITS) * CACHE_STRIDE).fill(-1);
  private readonly dynamicVoters: boolean;
  private readonly tieChecksQmr: boolean;

  constructor(tables: Tables) {
    const { scenario, nodes } = tables;
    this.tables = tables;
    this.nodes = nodes;
    this.place = new Uint8Array(nodes);
    this.group = new Uint8Array(nodes);
    this.real = new Int32Array(nodes);
    this.believed = new Int32Array(nodes);
    this.component = new Int32Array(nodes);
    this.met = new Int32Array(nodes);
    this.how = new Uint8Array(nodes);
    this.rowOf = new Int32Array(nodes);
    this.stale = scenario.members.reduce(
      (mask, member, node) => (member.type === 'D' && !member.upToDate ? mask | (1 << node) : mask),
      0,
    );
    this.newcomers = scenario.members.reduce(
      (mask, member, node) => (member.type === '✦' ? mask | (1 << node) : mask),
      0,
    );
    this.attachable = scenario.members.reduce((mask, member, node) => {
      const moves = scenario.tracks.some(
        (track) =>
          track.member === member.name && (scenario.tracks.length > 1 || track.steps.at(-1)?.leaves === '✕'),
      );
      return member.type === '✦' || moves ? mask : mask | (1 << node);
    }, 0);
    this.dynamicVoters = scenario.kernel.dynamicVoters;
    this.tieChecksQmr = scenario.kernel.tieChecksQmr;
    this.graphs = scenario.network.cuts === 'graphs';
  }

  /** Sets the scenario's start: everybody connected, all with quorum. */
  start(): void {
    const { tables } = this;
    this.place.fill(0);
    this.group.fill(0);
    this.phase = this.outdated = this.settled = this.unnoticed = this.cut = this.crashed = 0;
    this.graph = FULL_GRAPH;
    this.sticky = (1 << this.nodes) - 1;
    this.synced = 0;
    tables.subjects.forEach((subject, track) => {
      if (tables.scenario.members[subject]?.upToDate === true) this.synced |= 1 << track;
    });
    this.derive();
  }

  /** Takes over another machine's state, not what follows from it. */
  copyFrom(other: Machine): void {
    for (let node = 0; node < this.nodes; node += 1) {
      this.place[node] = at(other.place, node);
      this.group[node] = at(other.group, node);
    }
    this.phase = other.phase;
    this.sticky = other.sticky;
    this.outdated = other.outdated;
    this.synced = other.synced;
    this.settled = other.settled;
    this.unnoticed = other.unnoticed;
    this.cut = other.cut;
    this.crashed = other.crashed;
    this.graph = other.graph;
  }

  field(node: number, field: number): number {
    return at(this.tables.rows, at(this.rowOf, node) * FIELD_COUNT + field);
  }

  row(node: number): number {
    return at(this.rowOf, node);
  }

  /** Computes what follows from the state, quorum last; `sticky` becomes who has quorum now. */
  derive(): void {
    this.connect();
    let have = 0;
    let serving = 0;
    for (let node = 0; node < this.nodes; node += 1) {
      const bit = 1 << node;
      const how = (this.alive & bit) === 0 ? LOST : this.judge(node, (this.sticky & bit) !== 0);
      this.how[node] = how;
      if (how === LOST) continue;
      have |= bit;
      const believed = at(this.believed, node);
      // Without data there is nothing to serve; a write that waits for a disk which cannot answer is not acknowledged.
      const data = ((believed | bit) & this.upToDate) !== 0;
      const waits = (believed & ~at(this.real, node) & this.disks) !== 0;
      if (data && !waits) serving |= bit;
    }
    this.sticky = have;
    this.serving = serving;
  }

  private connect(): void {
    const { nodes, tables } = this;
    this.configure();
    const dead = this.deadMask();
    const alive = this.configuredUp & ~dead;
    const disks = this.configuredDisks & ~dead;
    this.alive = alive;
    this.disks = disks;
    let ready = disks & ~this.stale & ~this.outdated;
    for (let track = 0; track < tables.subjects.length; track += 1) {
      const subject = tables.subjects[track] as number;
      if (subject < 0) continue;
      if ((disks & (1 << subject)) === 0) this.synced &= ~(1 << track);
      if ((this.synced & (1 << track)) === 0) ready &= ~(1 << subject);
    }
    this.upToDate = ready;
    for (let node = 0; node < nodes; node += 1)
      this.rowOf[node] = at(this.phaseBase, node) + at(this.place, node);
    this.link();
  }

  private deadMask(): number {
    let dead = 0;
    for (let node = 0; node < this.nodes; node += 1) if (at(this.group, node) === DEAD) dead |= 1 << node;
    return dead;
  }

  /** What follows from the places alone: who is up, who has a disk, and who is set up to connect to whom. Kept for reuse. */
  private configure(): void {
    const { nodes, tables, met } = this;
    const phase = tables.phases[this.phase];
    if (phase === undefined) throw new Error('a state without a phase');
    this.phaseBase = phase.base;
    this.strangers = phase.lost < 0 ? this.newcomers : 0;
    let low = 0;
    let high = this.phase << 5;
    for (let node = 0; node < nodes; node += 1) {
      if (node < 6) low |= at(this.place, node) << (node * 5);
      else high |= at(this.place, node);
    }
    const slot = (Math.imul(low, 0x9e3779b1) ^ Math.imul(high + 1, 0x85ebca6b)) >>> (32 - CACHE_BITS);
    const entry = slot * CACHE_STRIDE;
    const { cache } = this;
    if (at(cache, entry) !== low || at(cache, entry + 1) !== high) {
      this.meet(phase.base);
      cache[entry] = low;
      cache[entry + 1] = high;
      cache[entry + 2] = this.configuredUp;
      cache[entry + 3] = this.configuredDisks;
      for (let node = 0; node < nodes; node += 1) cache[entry + 4 + node] = at(met, node);
      return;
    }
    this.configuredUp = at(cache, entry + 2);
    this.configuredDisks = at(cache, entry + 3);
    for (let node = 0; node < nodes; node += 1) met[node] = at(cache, entry + 4 + node);
  }

  private meet(base: Int32Array): void {
    const { nodes, tables, met } = this;
    const value = (node: number, field: number): number =>
      at(tables.rows, (at(base, node) + at(this.place, node)) * FIELD_COUNT + field);
    this.configuredUp = this.configuredDisks = 0;
    for (let node = 0; node < nodes; node += 1) {
      met[node] = 0;
      const flags = value(node, FLAGS);
      if ((flags & 1) !== 0) this.configuredUp |= 1 << node;
      if ((flags & 3) === 3) this.configuredDisks |= 1 << node;
    }
    for (let a = 1; a < nodes; a += 1) {
      const wants = value(a, CONNECTS);
      for (let b = 0; b < a; b += 1) {
        if ((wants & (1 << b)) === 0 || (value(b, CONNECTS) & (1 << a)) === 0) continue;
        met[a] = at(met, a) | (1 << b);
        met[b] = at(met, b) | (1 << a);
      }
    }
  }

  private link(): void {
    const { nodes, alive, real, believed, group, met } = this;
    GROUP_MASKS.fill(0);
    for (let node = 0; node < nodes; node += 1)
      GROUP_MASKS[at(group, node)] = at(GROUP_MASKS, at(group, node)) | (1 << node);
    for (let node = 0; node < nodes; node += 1) {
      if ((alive & (1 << node)) === 0) {
        real[node] = believed[node] = 0;
        continue;
      }
      const peers = at(met, node) & alive;
      const near = this.graphs ? peers & this.neighbours(node) : peers & at(GROUP_MASKS, at(group, node));
      real[node] = near;
      believed[node] = at(group, node) + 1 === this.unnoticed ? peers : near;
    }
    let left = alive;
    while (left !== 0) {
      const seed = 31 - Math.clz32(left & -left);
      let reach = 1 << seed;
      for (let frontier = reach; frontier !== 0;) {
        let next = 0;
        for (let rest = frontier; rest !== 0; rest &= rest - 1)
          next |= at(real, 31 - Math.clz32(rest & -rest));
        frontier = next & ~reach;
        reach |= next;
      }
      for (let rest = reach; rest !== 0; rest &= rest - 1)
        this.component[31 - Math.clz32(rest & -rest)] = reach;
      left &= ~reach;
    }
  }

  private neighbours(node: number): number {
    let mask = 0;
    for (let peer = 0; peer < this.nodes; peer += 1)
      if ((this.graph & at(EDGE, node * 7 + peer)) !== 0) mask |= 1 << peer;
    return mask;
  }

  /** The kernel's rule for one node, with bit masks. `hadQuorum` is what makes a tie-break sticky. */
  judge(node: number, hadQuorum: boolean): number {
    const q = this.field(node, Q);
    if (q === 0) return BY_COUNT;
    if (q === 32) return LOST;
    const bit = 1 << node;
    const own = (this.disks & bit) !== 0;
    const seen = at(this.believed, node);
    const voters = this.field(node, VOTERS);
    const ghosts = this.field(node, GHOSTS);
    const ties = this.field(node, TIES);
    const qmr = this.field(node, QMR);
    const copies = count(voters & seen & this.upToDate) + (own && (this.upToDate & bit) !== 0 ? 1 : 0);
    // A node with a disk counts a peer that has lost its disk as present; one without counts it as diskless.
    const others = own ? voters & seen & ~this.upToDate : voters & seen & ~this.upToDate & this.disks;
    const present = count(others) + (own && (this.upToDate & bit) === 0 ? 1 : 0);
    const votes = copies + present;
    if (votes >= q && copies >= qmr) return BY_COUNT;
    if (votes !== q - 1 || !hadQuorum || (this.tieChecksQmr && copies < qmr)) return LOST;
    const missing = (voters & ~seen) | ghosts;
    if ((this.votersCounted(node, votes, missing, q) & 1) !== 0) return LOST;
    const diskless = count(ties & seen) + (own ? 0 : 1 + count(voters & seen & ~this.disks));
    const absent =
      count(ties & ~seen & (at(this.met, node) | ~this.strangers)) + count(this.field(node, GHOST_TIES));
    return diskless >= ((diskless + absent) >> 1) + 1 ? BY_TIE : LOST;
  }

  /** The first node that has crashed, or how many there are if none has. */
  deadNode(): number {
    const node = this.group.indexOf(DEAD);
    return node < 0 ? this.nodes : node;
  }

  /** Whether a node joins in this scenario. */
  isNewcomer(node: number): boolean {
    return (this.newcomers & (1 << node)) !== 0;
  }

  /** Whether a peer is a newcomer that this node has never been connected to. */
  isStranger(node: number, peer: number): boolean {
    return ((at(this.met, node) | ~this.strangers) & (1 << peer)) === 0;
  }

  /** How many voters there are for a node that had quorum: dynamic voters leave out those that cannot have it. */
  private votersCounted(node: number, votes: number, missing: number, q: number): number {
    const absent = count(missing);
    if (!this.dynamicVoters) return votes + absent;
    const reachable = at(this.component, node);
    const outdated = count(missing & this.outdated & reachable);
    const quorumless = this.settled === 0 ? 0 : count(missing & ~reachable);
    const unknown = absent - outdated - (absent >= q ? 0 : quorumless);
    return unknown === 0 ? votes : votes + absent;
  }

  /** Disks that see this serving node only through others: two-phase commits outdate them. */
  farFrom(primary: number): number {
    if (primary < 0 || (this.serving & (1 << primary)) === 0) return 0;
    return at(this.component, primary) & ~(at(this.real, primary) | (1 << primary)) & this.disks;
  }
}
