import { describe, expect, test } from 'vitest';
import { layoutOf } from '../../../workflows/datamesh/domain/layouts.ts';
import type { Configuration, Member, Replica } from '../../../workflows/datamesh/domain/observed.ts';
import { planDatamesh } from '../../../workflows/datamesh/domain/plan.ts';
import { member, membersOf, observed } from './meshes.ts';

const replicasOf = (
  members: readonly Member[],
  change: Readonly<Record<string, Partial<Replica>>> = {},
): readonly Replica[] =>
  members.map((one) => ({
    name: one.name,
    wants: one.type as 'D',
    node: one.node,
    zone: one.zone,
    deleting: false,
    ...change[one.name],
  }));
const fresh = (name: string, wants: Replica['wants']): Replica => ({
  name,
  wants,
  node: `node-${name}`,
  zone: 'z',
  deleting: false,
});

function moves(
  members: readonly Member[],
  replicas: readonly Replica[],
  configuration: Partial<Configuration>,
  qmr = 1,
): readonly string[] {
  const plan = planDatamesh(observed(members, { replicas, configuration, qmr }), null);
  return plan.transitions.map(
    (one) =>
      `${one.op}${one.member === null ? '' : ` ${one.member}`}${one.to === null ? '' : ` → ${one.to}`}${one.blocked.length > 0 ? ` ✗ ${one.blocked[0]?.guard}` : ''}`,
  );
}

describe('managed mode follows the administrator where the layout allows it', () => {
  const tie = membersOf(layoutOf(1, 0));
  const three = membersOf(layoutOf(1, 1));

  test('a deleted replica is replaced before it goes', () => {
    expect(
      moves(tie, [...replicasOf(tie, { d2: { deleting: true } }), fresh('d3', 'D')], { ftt: 1 }),
    ).toEqual(['AddMember d3 → D', 'RemoveMember d2 → ✕']);
  });

  test('without a new replica the plan says that one must be scheduled', () => {
    expect(moves(tie, replicasOf(tie, { d2: { deleting: true } }), { ftt: 1 })).toEqual([
      'AddMember unscheduled-1 → D',
      'RemoveMember d2 → ✕',
    ]);
  });

  test('a replica that is retyped to what the layout wants is retyped', () => {
    expect(moves(three, replicasOf(three, { d2: { wants: 'TB' } }), { ftt: 1, gmdr: 0 }, 2)).toEqual([
      'ChangeQuorum',
      'ChangeMemberType d2 → TB',
    ]);
  });

  test('a new replica that the layout has no place for is ignored, and a client joins', () => {
    expect(
      moves(three, [...replicasOf(three), fresh('d4', 'D'), fresh('tb9', 'TB')], { ftt: 1, gmdr: 1 }, 2),
    ).toEqual([]);
    expect(moves(three, [...replicasOf(three), fresh('a1', 'A')], { ftt: 1, gmdr: 1 }, 2)).toEqual([
      'AddMember a1 → A',
    ]);
  });

  test('a member whose replica is gone is forced out, then replaced', () => {
    const replicas = [...replicasOf(three).slice(0, 2), fresh('d9', 'D')];
    expect(moves(three, replicas, { ftt: 1, gmdr: 1 }, 2)).toEqual([
      'ForceRemove d3 → ✕',
      'AddMember d9 → D',
    ]);
  });

  test('a lost member that others still see leaves the ordinary way, which its guards hold until it is replaced', () => {
    const seen = three.map((one) => (one.name === 'd3' ? { ...one, connectedTo: ['d1'] } : one));
    expect(moves(seen, replicasOf(three).slice(0, 2), { ftt: 1, gmdr: 1 }, 2)[0]).toBe(
      'RemoveMember d3 → ✕ ✗ FTT-BUA',
    );
  });
});

describe('manual mode follows the replicas as they are', () => {
  const members = [member('d1', 'D'), member('d2', 'D'), member('a1', 'A')];

  test('joins, leaves and retypes, and keeps qmr within what there is', () => {
    const replicas = [...replicasOf(members, { a1: { wants: 'TB' } }), fresh('d3', 'D')];
    expect(moves(members, replicas, { mode: 'manual', gmdr: 1 })).toEqual([
      'AddMember d3 → D',
      'ChangeMemberType a1 → TB',
      'ChangeQuorum',
    ]);
  });

  test('guards still hold', () => {
    expect(
      moves(members, replicasOf(members, { d2: { deleting: true } }), { mode: 'manual', gmdr: 1 }, 2),
    ).toEqual(['RemoveMember d2 → ✕ ✗ FTT-BDL']);
  });
});
