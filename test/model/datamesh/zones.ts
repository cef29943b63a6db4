import { judgeGuards } from '../../../workflows/datamesh/domain/guards.ts';
import { LAYOUTS, type Layout } from '../../../workflows/datamesh/domain/layouts.ts';
import type { Mesh } from '../../../workflows/datamesh/domain/mesh.ts';
import type { Intent, Member } from '../../../workflows/datamesh/domain/observed.ts';
import { partitionsOf } from './bits.ts';
import type { Exploration } from './explore.ts';
import { Machine } from './machine.ts';
import { measureLosses } from './measures.ts';

const ZONES = 3;

/**
 * Placements in up to three zones in which the guards allow the transition, and the loss of any one zone is survived before
 * and after it, and yet not in some mixed state.
 */
export function brokenZones(found: Exploration, intent: Intent): readonly string[] {
  const { scenario } = found.tables;
  const { losses } = found.measures;
  if (intent.op === 'ChangeQuorum' || intent.op === 'ForceRemove') return [];
  const ends = lossesAtEnds(found);
  if (ends.every((survived, lost) => survived === 0 || losses[lost] === 1)) return [];
  return placementsOf(scenario.members.length).flatMap((labels) => {
    const zones = zoneMasks(labels);
    if (zones.some((mask) => ends[mask] === 0) || zones.every((mask) => losses[mask] === 1)) return [];
    const members = scenario.members.map((member, at) => ({
      ...member,
      zone: 'abc'[labels[at] ?? 0] ?? 'a',
    }));
    return LAYOUTS.filter(
      (layout) => layout.ftt > 0 && isAllowed(scenario.start, members, intent, layout),
    ).map(
      (layout) => `towards ${layout.name} with ${members.map((one) => `${one.name}@${one.zone}`).join(' ')}`,
    );
  });
}

/** By set of members: whether its loss is survived at the start and at the end. */
function lossesAtEnds({ measures, tables, store }: Exploration): Uint8Array {
  const ends = new Uint8Array(measures.losses.length).fill(1);
  const machine = new Machine(tables);
  machine.start();
  measureLosses(machine, ends);
  if (measures.ended >= 0) {
    store.load(measures.ended, machine);
    machine.derive();
    measureLosses(machine, ends);
  }
  return ends;
}

const placementsOf = (members: number): readonly Uint8Array[] =>
  partitionsOf(members).filter((labels) => Math.max(...labels) < ZONES);

const zoneMasks = (labels: Uint8Array): readonly number[] =>
  [0, 1, 2].map((zone) => labels.reduce((mask, label, at) => (label === zone ? mask | (1 << at) : mask), 0));

function isAllowed(start: Mesh, placed: readonly Member[], intent: Intent, layout: Layout): boolean {
  if (intent.op === 'ChangeQuorum') return true;
  const subject = placed.find((one) => one.name === intent.member);
  if (subject === undefined) return false;
  const mesh: Mesh = {
    ...start,
    members: placed.filter((one) => one.type !== '✦'),
    configuration: { ...start.configuration, ftt: layout.ftt, gmdr: layout.gmdr, topology: 'TransZonal' },
  };
  const to = intent.op === 'AddMember' ? intent.type : intent.op === 'ChangeMemberType' ? intent.to : '✕';
  const findings = judgeGuards({ mesh, op: intent.op, subject, from: subject.type, to, active: [] });
  return !findings.some(({ answer }) => 'message' in answer);
}
