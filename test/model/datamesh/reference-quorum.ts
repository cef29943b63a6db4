import { at } from './bits.ts';
import type { Machine } from './machine.ts';
import { FLAGS, GHOST_TIES, GHOSTS, Q, QMR, TIES, VOTERS } from './tables.ts';

/**
 * The kernel's calculation peer by peer, as its source has it (`calc_quorum` of DRBD 9), written without regard to
 * speed. The model's own is by bit masks; a test holds the two to each other.
 */
export function referenceQuorum(machine: Machine, node: number, hadQuorum: boolean): boolean {
  const { kernel } = machine.tables.scenario;
  const q = machine.field(node, Q);
  const minimumRedundancy = machine.field(node, QMR);
  if (q === 0) return true;
  if (q === 32) return false;
  const withDisk = (machine.field(node, FLAGS) & 2) !== 0;
  const seen = tally(machine, node, withDisk, hadQuorum);
  let { unknown, quorumless } = seen;
  if (seen.outdated + quorumless + unknown >= q) {
    unknown += quorumless;
    quorumless = 0;
  }
  const all = seen.outdated + quorumless + unknown + seen.upToDate + seen.present;
  const voters = unknown > 0 || !kernel.dynamicVoters ? all : seen.upToDate + seen.present;
  const votes = seen.upToDate + seen.present;
  if (votes >= q && seen.upToDate >= minimumRedundancy) return true;
  const majority = Math.floor((seen.diskless + seen.missingDiskless) / 2) + 1;
  const tie = voters !== 0 && voters % 2 === 0 && votes === q - 1 && seen.diskless >= majority && hadQuorum;
  return tie && (!kernel.tieChecksQmr || seen.upToDate >= minimumRedundancy);
}

interface Tally {
  upToDate: number;
  present: number;
  outdated: number;
  diskless: number;
  missingDiskless: number;
  quorumless: number;
  unknown: number;
}

function tally(machine: Machine, node: number, withDisk: boolean, hadQuorum: boolean): Tally {
  const result: Tally = {
    upToDate: 0,
    present: 0,
    outdated: 0,
    diskless: 0,
    missingDiskless: 0,
    quorumless: 0,
    unknown: 0,
  };
  const has = (field: number, peer: number): boolean => (machine.field(node, field) & (1 << peer)) !== 0;
  for (let peer = 0; peer < machine.nodes; peer += 1) {
    const bit = 1 << peer;
    if (peer === node) {
      if (!withDisk) result.diskless += 1;
      else if ((machine.upToDate & bit) !== 0) result.upToDate += 1;
      else result.present += 1;
      continue;
    }
    const voter = has(VOTERS, peer) || has(GHOSTS, peer);
    const tiebreaker = has(TIES, peer) || has(GHOST_TIES, peer);
    if (!voter && !tiebreaker) continue;
    const connected = (at(machine.believed, node) & bit) !== 0;
    const diskless = (machine.disks & bit) === 0;
    if (!connected) {
      if (tiebreaker) result.missingDiskless += machine.isStranger(node, peer) ? 0 : 1;
      else countMissing(machine, node, peer, hadQuorum, result);
    } else if (diskless && (tiebreaker || !withDisk)) result.diskless += 1;
    else if ((machine.upToDate & bit) !== 0) result.upToDate += 1;
    else result.present += 1;
  }
  return result;
}

function countMissing(machine: Machine, node: number, peer: number, hadQuorum: boolean, result: Tally): void {
  const bit = 1 << peer;
  const reachable = (at(machine.component, node) & bit) !== 0;
  if ((machine.outdated & bit) !== 0 && reachable) result.outdated += 1;
  else if (hadQuorum && machine.settled !== 0 && !reachable) result.quorumless += 1;
  else result.unknown += 1;
}
