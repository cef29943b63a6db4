import { describe, expect, test } from 'vitest';
import {
  ADDED_RULES,
  admit,
  GROUPS,
  groupOf,
  RULES,
  type Running,
} from '../../../workflows/datamesh/domain/parallelism.ts';

const add = (member: string, to: 'A' | 'TB' | 'D' | 'sD'): Running => ({
  op: 'AddMember',
  member,
  from: '✦',
  to,
});
const remove = (member: string, from: 'A' | 'TB' | 'D' | 'sD'): Running => ({
  op: 'RemoveMember',
  member,
  from,
  to: '✕',
});
const plain = (op: Running['op'], member: string | null = null): Running => ({
  op,
  member,
  from: null,
  to: null,
});

/** One of each, all on different members where they have one. */
const KINDS: Readonly<Record<string, (member: string) => Running>> = {
  voter: (member) => add(member, 'D'),
  client: (member) => add(member, 'A'),
  shadow: (member) => remove(member, 'sD'),
  tie: (member) => add(member, 'TB'),
  quorum: () => plain('ChangeQuorum'),
  attach: (member) => plain('Attach', member),
  multiattach: () => plain('EnableMultiattach'),
  formation: () => plain('Formation'),
  emergency: (member) => plain('ForceRemove', member),
};

/** Which overlap on different members; everything else is refused. */
const OVERLAPS: Readonly<Record<string, readonly string[]>> = {
  voter: ['client', 'shadow', 'attach', 'multiattach', 'emergency'],
  client: ['voter', 'client', 'shadow', 'tie', 'attach', 'multiattach', 'emergency'],
  shadow: ['voter', 'client', 'shadow', 'tie', 'attach', 'multiattach', 'emergency'],
  tie: ['client', 'shadow', 'attach', 'multiattach', 'emergency'],
  quorum: ['emergency'],
  attach: ['voter', 'client', 'shadow', 'tie', 'attach', 'emergency'],
  multiattach: ['voter', 'client', 'shadow', 'tie', 'emergency'],
  formation: [],
  emergency: ['voter', 'client', 'shadow', 'tie', 'quorum', 'attach', 'multiattach'],
};

describe('parallelism', () => {
  test('has the specification’s seven rules, and the groups with the emergency apart', () => {
    expect(RULES).toHaveLength(7);
    expect(ADDED_RULES.map((rule) => rule.name)).toEqual([
      'A tie-breaker changes alone',
      'One emergency at a time',
    ]);
    expect(GROUPS).toEqual(['Voter', 'NonVoter', 'Quorum', 'IO', 'Multiattach', 'Formation', 'Emergency']);
  });

  test.each(Object.keys(KINDS).flatMap((a) => Object.keys(KINDS).map((b) => [a, b] as const)))(
    '%s beside %s',
    (a, b) => {
      const admitted = admit(KINDS[a]?.('x') ?? plain('Formation'), [
        KINDS[b]?.('y') ?? plain('Formation'),
      ]).admitted;
      expect(admitted).toBe(OVERLAPS[a]?.includes(b));
    },
  );

  test('a member has one membership transition at a time, while it may attach', () => {
    expect(admit(add('x', 'A'), [add('x', 'sD')])).toMatchObject({
      admitted: false,
      rule: 'Voter blocks NonVoter of same member',
    });
    expect(admit(plain('Attach', 'x'), [add('x', 'sD')]).admitted).toBe(true);
    expect(admit(plain('Detach', 'x'), [plain('Attach', 'x')]).admitted).toBe(false);
  });

  test('an emergency preempts the transition of the member that it removes, and nothing else', () => {
    const mine = remove('x', 'D');
    const others = [add('y', 'A'), plain('Attach', 'x')];
    expect(admit(plain('ForceRemove', 'x'), [mine, ...others])).toEqual({ admitted: true, preempts: [mine] });
  });

  test('a change of type to or from D is a voter’s', () => {
    expect(groupOf({ op: 'ChangeMemberType', member: 'x', from: 'TB', to: 'D' })).toBe('Voter');
    expect(groupOf({ op: 'ChangeMemberType', member: 'x', from: 'TB', to: 'sD' })).toBe('NonVoter');
  });
});
