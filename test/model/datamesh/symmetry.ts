import { at } from './bits.ts';
import { DEAD, type Machine } from './machine.ts';

const UNNAMED = 6;
const labels = new Uint8Array(8);
const keys = new Int32Array(8);

/**
 * Brings a state into one form for all that differ only in the names of groups and of nodes that are alike. States
 * that this fails to merge cost time; it never merges states that differ. Answers whether nodes changed places.
 */
export function canonicalise(machine: Machine): boolean {
  const phase = machine.tables.phases[machine.phase];
  if (phase === undefined || machine.tables.scenario.network.cuts === 'graphs') return false;
  const { classes } = phase;
  let moved = false;
  if (classes.length > 0) {
    nameGroups(machine, classes);
    for (let i = 0; i < classes.length; i += 1)
      moved = sortClass(machine, classes[i] as readonly number[]) || moved;
  }
  if (machine.cut !== 0) {
    renameGroups(machine);
    for (let i = 0; i < classes.length; i += 1)
      moved = sortClass(machine, classes[i] as readonly number[]) || moved;
  }
  return moved;
}

/** Groups that hold a node of no class get their names first; the others are alike for now. */
function nameGroups(machine: Machine, classes: readonly (readonly number[])[]): void {
  let inClass = 0;
  for (const nodes of classes) for (const node of nodes) inClass |= 1 << node;
  labels.fill(UNNAMED);
  labels[DEAD] = DEAD;
  let used = 0;
  for (let node = 0; node < machine.nodes; node += 1) {
    const group = at(machine.group, node);
    if ((inClass & (1 << node)) === 0 && at(labels, group) === UNNAMED) {
      labels[group] = used;
      used += 1;
    }
  }
}

function renameGroups(machine: Machine): void {
  labels.fill(UNNAMED);
  labels[DEAD] = DEAD;
  let used = 0;
  for (let node = 0; node < machine.nodes; node += 1) {
    const group = at(machine.group, node);
    if (group !== DEAD && at(labels, group) === UNNAMED) {
      labels[group] = used;
      used += 1;
    }
    machine.group[node] = at(labels, group);
  }
  if (machine.unnoticed > 0) machine.unnoticed = at(labels, machine.unnoticed - 1) + 1;
  // After the renaming a group's name is its own label.
  for (let group = 0; group < UNNAMED; group += 1) labels[group] = group;
}

function sortClass(machine: Machine, nodes: readonly number[]): boolean {
  const { place, group } = machine;
  for (let i = 0; i < nodes.length; i += 1) {
    const node = nodes[i] as number;
    const raw = at(group, node);
    const sticky = (machine.sticky >> node) & 1;
    const outdated = (machine.outdated >> node) & 1;
    keys[i] = (at(place, node) << 16) | (at(labels, raw) << 12) | (sticky << 11) | (outdated << 10) | raw;
  }
  let moved = false;
  for (let i = 1; i < nodes.length; i += 1) {
    const key = at(keys, i);
    let j = i - 1;
    if (at(keys, j) <= key) continue;
    moved = true;
    while (j >= 0 && at(keys, j) > key) {
      keys[j + 1] = at(keys, j);
      j -= 1;
    }
    keys[j + 1] = key;
  }
  if (!moved) return false;
  for (let i = 0; i < nodes.length; i += 1) {
    const node = nodes[i] as number;
    const key = at(keys, i);
    const bit = 1 << node;
    place[node] = key >> 16;
    group[node] = key & 7;
    machine.sticky = (key & 0x800) === 0 ? machine.sticky & ~bit : machine.sticky | bit;
    machine.outdated = (key & 0x400) === 0 ? machine.outdated & ~bit : machine.outdated | bit;
  }
  return true;
}

/** Exchanges two nodes of one class. */
export function swapNodes(machine: Machine, a: number, b: number): void {
  const { place, group } = machine;
  [place[a], place[b]] = [at(place, b), at(place, a)];
  [group[a], group[b]] = [at(group, b), at(group, a)];
  machine.sticky = swapBits(machine.sticky, a, b);
  machine.outdated = swapBits(machine.outdated, a, b);
}

function swapBits(mask: number, a: number, b: number): number {
  const differ = ((mask >> a) ^ (mask >> b)) & 1;
  return mask ^ ((differ << a) | (differ << b));
}
