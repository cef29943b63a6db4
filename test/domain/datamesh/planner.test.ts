import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { explainPlan } from '../../../workflows/datamesh/domain/explanation.ts';
import { buildEnvelope } from '../../../workflows/datamesh/domain/envelope.ts';
import { KERNELS } from '../../../workflows/datamesh/domain/kernels.ts';
import { LAYOUTS, layoutOf, quorumOf } from '../../../workflows/datamesh/domain/layouts.ts';
import { countOf, votersOf } from '../../../workflows/datamesh/domain/mesh.ts';
import type { Intent, Member } from '../../../workflows/datamesh/domain/observed.ts';
import { planDatamesh } from '../../../workflows/datamesh/domain/plan.ts';
import { member, membersOf, moving, observed } from './meshes.ts';

const blockedOf = (...args: Parameters<typeof planDatamesh>): readonly string[] =>
  buildEnvelope(planDatamesh(...args)).blocked.map((row) => `${row.guard}: ${row.message}`);

describe('the planner', () => {
  test('reaches every layout from every other, on every kernel, with nothing blocked', () => {
    for (const kernel of KERNELS)
      for (const from of LAYOUTS)
        for (const to of LAYOUTS) {
          const plan = planDatamesh(moving(from, to, kernel), null);
          expect(plan.transitions.flatMap((one) => one.blocked)).toEqual([]);
          expect([
            votersOf(plan.mesh.members),
            countOf(plan.mesh.members, 'TB'),
            plan.mesh.q,
            plan.mesh.qmr,
          ]).toEqual([to.diskful, to.tiebreakers, to.q, to.qmr]);
        }
  });

  test('computes q from the voters in every step of every plan', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...KERNELS),
        fc.constantFrom(...LAYOUTS),
        fc.constantFrom(...LAYOUTS),
        (kernel, from, to) => {
          for (const one of planDatamesh(moving(from, to, kernel), null).transitions) {
            const last = one.steps.at(-1);
            expect(last?.q).toBe(quorumOf(votersOf(one.mesh.members)));
          }
        },
      ),
    );
  });

  test('is deterministic, and its hash ignores reasons and facts that change by themselves', () => {
    const seen = moving(layoutOf(1, 0), layoutOf(1, 1), 'vanilla');
    const hash = buildEnvelope(planDatamesh(seen, null)).hash;
    expect(buildEnvelope(planDatamesh(seen, null)).hash).toBe(hash);
    expect(hash).toMatch(/^sha256:[0-9a-f]{64}$/u);
    expect(buildEnvelope(planDatamesh({ ...seen, resource: 'default/other' }, null)).hash).not.toBe(hash);
  });

  test('has nothing to do for a layout at rest', () => {
    for (const layout of LAYOUTS)
      expect(buildEnvelope(planDatamesh(moving(layout, layout, 'vanilla'), null))).toMatchObject({
        operation: 'none',
        transitions: [],
        totals: { steps: 0 },
      });
  });

  test('plans explicit intents alone, and lists what is blocked', () => {
    const seen = observed(membersOf(layoutOf(1, 1)), { qmr: 2, configuration: { ftt: 1, gmdr: 1 } });
    const envelope = buildEnvelope(planDatamesh(seen, [{ op: 'RemoveMember', member: 'd3' }]));
    expect(envelope.transitions).toHaveLength(1);
    expect(envelope.blocked).toEqual(
      [
        {
          intent: 'RemoveMember',
          member: 'd3',
          guard: 'FTT-BDL',
          message: 'Would violate FTT-BDL: pFTT-BDL=2, need > 1',
        },
      ]
        .slice(1)
        .concat([
          {
            intent: 'RemoveMember',
            member: 'd3',
            guard: 'FTT-BUA',
            message: 'Would violate FTT-BUA: D_count=3, need > 3',
          },
        ]),
    );
  });

  test('retypes an attached member in managed mode, and refuses to remove it when asked explicitly', () => {
    const members = membersOf(layoutOf(1, 1)).map((one) => ({ ...one, attached: one.name === 'd3' }));
    const replicas = members.map((one) => ({
      name: one.name,
      wants: 'D' as const,
      node: one.node,
      zone: one.zone,
      deleting: one.name === 'd3',
    }));
    const to = (kernel: 'vanilla' | 'flant'): unknown =>
      planDatamesh(
        observed(members, { kernel, qmr: 2, configuration: { gmdr: 1 }, replicas }),
        null,
      ).transitions.at(-1)?.to;
    expect([to('vanilla'), to('flant')]).toEqual(['A', 'sD']);
    expect(
      blockedOf(observed(members, { qmr: 2, configuration: { gmdr: 1 } }), [
        { op: 'RemoveMember', member: 'd3' },
      ]),
    ).toContain('NotAttached: Cannot remove attached member');
  });

  test('lets nothing start beside a running ChangeQuorum', () => {
    const seen = observed([member('d1', 'D')], {
      active: [{ transition: 'ChangeQuorum', member: null, step: 0 }],
    });
    expect(blockedOf(seen, [{ op: 'AddMember', member: 'a', type: 'A', node: 'n', zone: '' }])).toEqual([
      'Parallelism: Quorum is exclusive: ChangeQuorum is in progress',
    ]);
  });

  test('goes on with what was running, from where its member is', () => {
    const members = [member('d1', 'D'), member('d2', 'D'), member('d3', 'D'), member('d4', 'D∅')];
    const seen = observed(members, {
      qmr: 2,
      configuration: { ftt: 1, gmdr: 1 },
      active: [{ transition: 'RemoveMember(D) + q↓', member: 'd4', step: 1 }],
    });
    expect(planDatamesh(seen, null).transitions[0]?.steps.map((step) => `${step.from}→${step.to}`)).toEqual([
      'D∅→A',
      'A→✕',
      '✕→✕',
    ]);
  });

  test('stops a running removal that has become unsafe, and plans its member home', () => {
    const members = [member('d1', 'D'), member('d2', 'D', { upToDate: false }), member('d3', 'D∅')];
    const seen = observed(members, {
      qmr: 1,
      configuration: { gmdr: 1 },
      active: [{ transition: 'remove-diskful/v1', member: 'd3', step: 1 }],
    });
    const plan = planDatamesh(seen, null);
    expect(plan.transitions[0]?.blocked[0]?.guard).toBe('FTT-BDL');
    expect(
      plan.transitions.some((one) => one.member === 'd3' && one.to === 'D' && one.blocked.length === 0),
    ).toBe(true);
  });

  test('explains a block with the loss that would break the promise', () => {
    const seen = observed(membersOf(layoutOf(1, 0)), { configuration: { ftt: 1 } });
    const [row] = explainPlan(planDatamesh(seen, [{ op: 'RemoveMember', member: 'tb1' }]));
    expect(row).toMatchObject({ guard: 'TBRequired', counterexample: { lost: ['d1'] } });
    expect(row?.wayOut).toContain('replacement TB');
  });

  test('plans 32 members within the slots of the metadata', () => {
    const members: Member[] = [
      ...membersOf(layoutOf(2, 2)),
      ...Array.from({ length: 26 }, (_, at) => member(`a${at}`, 'A')),
    ];
    const plan = planDatamesh(observed(members, { qmr: 3, configuration: { ftt: 2, gmdr: 2 } }), [
      { op: 'AddMember', member: 'new', type: 'D', node: 'new', zone: '' },
    ]);
    expect(plan.transitions[0]?.steps[0]?.confirm).toHaveLength(6);
  });
});

describe('bad input', () => {
  const add: Intent = { op: 'AddMember', member: 'x', type: 'D', node: 'node-x', zone: '' };
  const disks = Array.from({ length: 8 }, (_, at) => member(`d${at + 1}`, 'D'));
  test.each<[string, Parameters<typeof planDatamesh>, RegExp]>([
    [
      'FTT and GMDR too far apart',
      [observed([member('d1', 'D')], { configuration: { ftt: 2, gmdr: 0 } }), null],
      /\|FTT−GMDR\| must be at most 1, but FTT=2 and GMDR=0/u,
    ],
    ['a ninth disk', [observed(disks), [add]], /at most 8 members can have a disk .*not 9/u],
    [
      'two members on one node',
      [observed([member('d1', 'D'), member('d2', 'D', { node: 'node-d1' })]), null],
      /two members on one node: d1 and d2/u,
    ],
    [
      'an unknown kernel',
      [{ ...observed([member('d1', 'D')]), kernel: 'bsd' as 'flant' }, null],
      /unknown kernel "bsd"/u,
    ],
    [
      'a quorum that does not fit',
      [observed([member('d1', 'D'), member('d2', 'D'), member('d3', 'D')], { q: 1 }), null],
      /q=1 does not fit 3 voters: q must be floor\(3\/2\)\+1 = 2/u,
    ],
    [
      'a qmr that does not fit',
      [observed([member('d1', 'D')], { qmr: 2 }), null],
      /qmr=2 does not fit 1 voters/u,
    ],
    [
      'ChangeQuorum to a q that does not fit',
      [observed([member('d1', 'D')]), [{ op: 'ChangeQuorum', q: 2, qmr: 1 }]],
      /q must be floor\(1\/2\)\+1 = 1/u,
    ],
    [
      'a shadow on a vanilla kernel',
      [observed([member('d1', 'D'), member('s1', 'sD')]), null],
      /sD needs the flant kernel/u,
    ],
    [
      'a change from what the member is not',
      [observed([member('d1', 'D')]), [{ op: 'ChangeMemberType', member: 'd1', from: 'A', to: 'D' }]],
      /d1 is D, not A/u,
    ],
    [
      'a member that is not there',
      [observed([member('d1', 'D')]), [{ op: 'RemoveMember', member: 'nobody' }]],
      /nobody is no member/u,
    ],
    [
      'a row that the specification does not have',
      [observed([member('d1', 'D')]), [{ ...add, type: 'sD' }]],
      /has no AddMember from ✦ to sD on the vanilla kernel/u,
    ],
  ])('%s is refused with the rule and the numbers', (_name, args, message) => {
    expect(() => planDatamesh(...args)).toThrow(message);
  });

  test('a q that does not fit is repaired by the ChangeQuorum that fits', () => {
    const seen = observed([member('d1', 'D'), member('d2', 'D'), member('d3', 'D')], { q: 1 });
    expect(planDatamesh(seen, [{ op: 'ChangeQuorum', q: 2, qmr: 1 }]).transitions[0]?.plan).toBe('raise/v1');
  });
});
