import { describe, expect, test } from 'vitest';
import { GUARDS, judgeGuards } from '../../../workflows/datamesh/domain/guards.ts';
import type { GuardCase } from '../../../workflows/datamesh/domain/guard-rows.ts';
import { meshOf } from '../../../workflows/datamesh/domain/mesh.ts';
import type { Configuration, Member, Observed } from '../../../workflows/datamesh/domain/observed.ts';
import { member, observed } from './meshes.ts';

interface Case {
  readonly members: readonly Member[];
  readonly qmr?: number;
  readonly configuration?: Partial<Configuration>;
  readonly kernel?: Observed['kernel'];
  readonly op?: GuardCase['op'];
  readonly subject: string;
  readonly to?: GuardCase['to'];
  readonly active?: GuardCase['active'];
}

function messages(one: Case): readonly string[] {
  const seen = observed(one.members, {
    qmr: one.qmr ?? 1,
    kernel: one.kernel ?? 'vanilla',
    configuration: one.configuration ?? {},
  });
  const subject = one.members.find((each) => each.name === one.subject) ?? member(one.subject, '✦');
  const findings = judgeGuards({
    mesh: meshOf(seen),
    op: one.op ?? 'RemoveMember',
    subject,
    from: subject.type,
    to: one.to ?? '✕',
    active: one.active ?? [],
  });
  return findings.map(
    ({ guard, answer }) => `${guard.name}: ${'message' in answer ? answer.message : `needs ${answer.needs}`}`,
  );
}

const d = (n: number, rest: Partial<Member> = {}): Member => member(`d${n}`, 'D', rest);
const ds = (count: number): readonly Member[] => Array.from({ length: count }, (_, at) => d(at + 1));
const zoned = (zones: string): readonly Member[] => Array.from(zones, (zone, at) => d(at + 1, { zone }));
const tb = (zone = 'c', name = 'tb1'): Member => member(name, 'TB', { zone });

describe('each guard, with the specification’s message', () => {
  test.each<[string, Case, readonly string[]]>([
    [
      'an attached member is not removed',
      { members: [d(1), d(2, { attached: true })], subject: 'd2' },
      ['NotAttached: Cannot remove attached member'],
    ],
    [
      'nor one that is being detached',
      { members: ds(2), subject: 'd2', active: [{ op: 'Detach', member: 'd2', from: null, to: null }] },
      ['NotAttached: Cannot remove attached member'],
    ],
    [
      'an attached Diskful stays where volumeAccess is Local',
      {
        members: [d(1), d(2, { attached: true })],
        op: 'ChangeMemberType',
        to: 'A',
        subject: 'd2',
        configuration: { volumeAccess: 'Local' },
      },
      ['VolumeAccessLocal: Cannot demote Diskful: volumeAccess=Local requires D on attached node'],
    ],
    [
      'unless it becomes sD',
      {
        members: [d(1), d(2, { attached: true })],
        op: 'ChangeMemberType',
        to: 'sD',
        subject: 'd2',
        kernel: 'flant',
        configuration: { volumeAccess: 'Local' },
      },
      [],
    ],
    [
      'qmr falls before a voter leaves',
      { members: ds(3), qmr: 2, subject: 'd3' },
      ['QMRReady: ChangeQuorum not yet applied: qmr=2, target=1'],
    ],
    [
      'copies stay',
      { members: [d(1), d(2), d(3, { upToDate: false })], subject: 'd2', configuration: { gmdr: 1 }, qmr: 2 },
      ['FTT-BDL: Would violate FTT-BDL: pFTT-BDL=1, need > 1'],
    ],
    [
      'a stale disk may go',
      { members: [d(1), d(2), d(3, { upToDate: false })], subject: 'd3', configuration: { gmdr: 1 }, qmr: 2 },
      [],
    ],
    [
      'voters stay',
      { members: ds(3), subject: 'd3', configuration: { ftt: 1, gmdr: 1 }, qmr: 2 },
      ['FTT-BUA: Would violate FTT-BUA: D_count=3, need > 3'],
    ],
    [
      'a tie-breaker is there before voters become even',
      { members: ds(3), subject: 'd3', configuration: { ftt: 1 } },
      ['TBReady: TB required: D_count=2 even, FTT-BUA=1 = D/2'],
    ],
    [
      'a Diskful that becomes the tie-breaker counts as one',
      { members: ds(3), subject: 'd3', op: 'ChangeMemberType', to: 'TB', configuration: { ftt: 1 } },
      [],
    ],
    [
      'a zone’s loss leaves copies and quorum',
      {
        members: [...zoned('aabc'), tb('d')],
        subject: 'd4',
        configuration: { ftt: 1, gmdr: 1, topology: 'TransZonal' },
        qmr: 2,
      },
      [
        'ZoneFTT-BDL: Would violate zone FTT-BDL: losing zone a would leave 1 D, need > 1',
        'ZoneFTT-BUA: Would violate zone FTT-BUA: losing zone a would leave 1 voters, need > 1',
      ],
    ],
    [
      'a zone that is spread well lets go',
      {
        members: zoned('abcd'),
        subject: 'd4',
        configuration: { ftt: 1, gmdr: 1, topology: 'TransZonal' },
        qmr: 2,
      },
      [],
    ],
    [
      'the only tie-breaker stays where it is needed',
      { members: [...ds(2), tb()], subject: 'tb1', configuration: { ftt: 1 } },
      ['TBRequired: TB required: D_count=2 even, FTT-BUA=1 = D/2'],
    ],
    [
      'it may become the third voter',
      {
        members: [...ds(2), tb()],
        subject: 'tb1',
        op: 'ChangeMemberType',
        to: 'D',
        configuration: { ftt: 1 },
      },
      [],
    ],
    [
      'but not through a shadow, which leaves the tie open',
      {
        members: [...ds(2), tb()],
        kernel: 'flant',
        subject: 'tb1',
        op: 'ChangeMemberType',
        to: 'D',
        configuration: { ftt: 1 },
      },
      ['TBRequired: TB required: D_count=2 even, FTT-BUA=1 = D/2'],
    ],
    [
      'one of two tie-breakers stays where a zone needs it',
      {
        members: [...zoned('ab'), tb('a', 'tb1'), tb('c', 'tb2')],
        subject: 'tb2',
        configuration: { ftt: 1, topology: 'TransZonal' },
      },
      [],
    ],
    [
      'a tie-breaker does not come where a tie would undercut qmr',
      { members: ds(2), qmr: 2, op: 'AddMember', subject: 'new', to: 'TB', configuration: { gmdr: 1 } },
      ['TBRedundancy: Would violate FTT-BDL: a tie of 2 D is broken with 1 copies, need qmr=2'],
    ],
    [
      'a reachable member is not force-removed',
      { members: [d(1), d(2, { connectedTo: ['d1'] })], op: 'ForceRemove', subject: 'd2' },
      ['NotConnected: Cannot force-remove a reachable member: d1 still connected'],
    ],
    [
      'without that fact the guard is unknown',
      { members: ds(2), op: 'ForceRemove', subject: 'd2' },
      ['NotConnected: needs connectedTo of d2'],
    ],
    [
      'the last copy is not force-removed',
      { members: [d(1, { connectedTo: [] })], op: 'ForceRemove', subject: 'd1' },
      [
        'LastCopy: Cannot force-remove the last UpToDate D: it may still serve alone, and nobody else has its data',
      ],
    ],
    ['adding a Diskful is never blocked', { members: ds(2), op: 'AddMember', subject: 'new', to: 'D' }, []],
  ])('%s', (_name, one, expected) => {
    expect(messages(one)).toEqual(expected);
  });

  test('every guard names a way out', () => {
    for (const guard of GUARDS) expect(guard.wayOut).toMatch(/^[A-Z].*\.$/u);
  });

  test('the zone guard knows the kernel’s tie: even voters and a majority of the tie-breakers', () => {
    const configuration = { ftt: 1, topology: 'TransZonal' } as const;
    // Losing a would leave 1 of 3 voters beside a tie-breaker: the specification's formula passes, the kernel does not.
    expect(messages({ members: [...zoned('aabc'), tb('c')], subject: 'd3', configuration })).toContain(
      'ZoneFTT-BUA: Would violate zone FTT-BUA: losing zone a would leave 1 voters, need > 1',
    );
    // Losing b would leave 1 of 2 voters and 1 of 2 tie-breakers.
    expect(
      messages({ members: [...zoned('abc'), tb('b', 'tb1'), tb('d', 'tb2')], subject: 'd3', configuration }),
    ).toContain('ZoneFTT-BUA: Would violate zone FTT-BUA: losing zone b would leave 1 voters, need > 1');
  });
});
