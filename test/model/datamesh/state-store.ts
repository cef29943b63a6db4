import { at } from './bits.ts';
import { FULL_GRAPH, type Machine } from './machine.ts';

/** A slot of the hash table holds the state's own words and its index: one look into memory for most questions. */
const SLOT = 4;

/** All states found so far: three words each, with where each came from. */
export class StateStore {
  size = 0;
  private words: Int32Array;
  private origins: Int32Array;
  private slots: Int32Array;
  private mask: number;

  constructor(capacity = 1 << 14) {
    this.words = new Int32Array(capacity * 3);
    this.origins = new Int32Array(capacity * 2);
    this.slots = new Int32Array(capacity * 2 * SLOT).fill(-1);
    this.mask = capacity * 2 - 1;
  }

  /** Adds the machine's state; answers its index when it is new, else -1. */
  add(machine: Machine, parent: number, event: number): number {
    const { place, group, nodes } = machine;
    let a = 0;
    let b = (machine.phase & 255) << 24;
    for (let node = 0; node < nodes; node += 1) {
      const code = (at(place, node) << 3) | at(group, node);
      if (node < 4) a |= code << (node * 8);
      else b |= code << ((node - 4) * 8);
    }
    const c =
      machine.sticky |
      (machine.outdated << 7) |
      (machine.synced << 14) |
      (machine.settled << 16) |
      (machine.unnoticed << 17) |
      (machine.cut << 20) |
      (machine.crashed << 21) |
      // Only small scenarios have connection graphs, and only large ones many phases.
      ((machine.graphs ? machine.graph : machine.phase >>> 8) << 22);
    let slot = hash(a, b, c) & this.mask;
    for (;;) {
      const base = slot * SLOT;
      if (at(this.slots, base + 3) < 0) break;
      if (at(this.slots, base) === a && at(this.slots, base + 1) === b && at(this.slots, base + 2) === c)
        return -1;
      slot = (slot + 1) & this.mask;
    }
    const index = this.size;
    this.size += 1;
    this.fill(slot, a, b, c, index);
    this.words[index * 3] = a;
    this.words[index * 3 + 1] = b;
    this.words[index * 3 + 2] = c;
    this.origins[index * 2] = parent;
    this.origins[index * 2 + 1] = event;
    if (this.size * 3 >= this.words.length) this.grow();
    return index;
  }

  /** Unpacks a state into the machine; what follows from it is not computed. */
  load(index: number, machine: Machine): void {
    const a = at(this.words, index * 3);
    const b = at(this.words, index * 3 + 1);
    const c = at(this.words, index * 3 + 2);
    for (let node = 0; node < machine.nodes; node += 1) {
      const code = (node < 4 ? a >>> (node * 8) : b >>> ((node - 4) * 8)) & 255;
      machine.place[node] = code >> 3;
      machine.group[node] = code & 7;
    }
    machine.phase = (b >>> 24) | (machine.graphs ? 0 : (c >>> 22) << 8);
    machine.sticky = c & 127;
    machine.outdated = (c >>> 7) & 127;
    machine.synced = (c >>> 14) & 3;
    machine.settled = (c >>> 16) & 1;
    machine.unnoticed = (c >>> 17) & 7;
    machine.cut = (c >>> 20) & 1;
    machine.crashed = (c >>> 21) & 1;
    machine.graph = machine.graphs ? c >>> 22 : FULL_GRAPH;
  }

  /** Where a state came from, and by which event. */
  origin(index: number): { readonly parent: number; readonly event: number } {
    return { parent: at(this.origins, index * 2), event: at(this.origins, index * 2 + 1) };
  }

  private grow(): void {
    const capacity = this.size * 2;
    this.words = widen(this.words, capacity * 3);
    this.origins = widen(this.origins, capacity * 2);
    let slots = 1;
    while (slots < capacity * 1.5) slots *= 2;
    this.slots = new Int32Array(slots * SLOT).fill(-1);
    this.mask = slots - 1;
    for (let index = 0; index < this.size; index += 1) {
      const a = at(this.words, index * 3);
      const b = at(this.words, index * 3 + 1);
      const c = at(this.words, index * 3 + 2);
      let slot = hash(a, b, c) & this.mask;
      while (at(this.slots, slot * SLOT + 3) >= 0) slot = (slot + 1) & this.mask;
      this.fill(slot, a, b, c, index);
    }
  }

  private fill(slot: number, a: number, b: number, c: number, index: number): void {
    const base = slot * SLOT;
    this.slots[base] = a;
    this.slots[base + 1] = b;
    this.slots[base + 2] = c;
    this.slots[base + 3] = index;
  }
}

function widen(array: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const wider = new Int32Array(length);
  wider.set(array);
  return wider;
}

function hash(a: number, b: number, c: number): number {
  let h = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b) ^ Math.imul(c, 0xc2b2ae35);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  h = Math.imul(h ^ (h >>> 12), 0x297a2d39);
  return h ^ (h >>> 15);
}
