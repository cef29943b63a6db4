import { describe, expect, it } from 'vitest';
import { renderPlan } from '../../../starter/cli/render/plan-text.ts';
import { envelope } from '../../../workflows/shared/plan.ts';

const NOTHING = { blocked: [], unknown: [] };

describe('a plan as text', () => {
  it('reads as a runbook: groups in order, each step with its parameters and its reason', () => {
    const plan = envelope(
      'valkey-cluster',
      'default/cache',
      {
        operation: 'scale-up',
        version: 1,
        steps: [
          {
            id: '1',
            kind: 'CreateShard',
            shard: 3,
            reason: 'four masters are wanted',
            group: 1,
            irreversible: false,
          },
          {
            id: '2',
            kind: 'MigrateSlots',
            from: 0,
            to: 3,
            ranges: [
              [0, 10],
              [12, 12],
            ],
            reason: 'shard 3 is empty',
            group: 2,
            irreversible: true,
            facts: { keys: 7 },
          },
          {
            id: '3',
            kind: 'MigrateSlots',
            from: 1,
            to: 3,
            ranges: [],
            reason: 'shard 3 is empty',
            group: 2,
            irreversible: false,
          },
        ],
        totals: { slotsMoved: 12, steps: 3 },
      },
      {
        blocked: [
          { step: null, guard: 'OneAtATime', message: 'another operation runs' },
          { step: '2', guard: 'Headroom', message: 'shard 3 has no memory for it' },
        ],
        unknown: [{ guard: 'MemoryHeadroom', needs: 'usedMemory of shard 1' }],
      },
    );
    expect(renderPlan({ ...plan, hash: 'sha256:abc' })).toBe(
      `valkey-cluster default/cache: scale-up, 3 steps

Group 1
    1  CreateShard  shard=3
       four masters are wanted
Group 2 (may run at the same time)
    2  MigrateSlots  from=0 to=3 ranges=0-10,12  [cannot be undone]
       shard 3 is empty
       measured: keys=7
    3  MigrateSlots  from=1 to=3 ranges=none
       shard 3 is empty

Blocked
  OneAtATime: another operation runs
  Headroom (step 2): shard 3 has no memory for it

Not judged, because facts are missing (it blocks nothing here)
  MemoryHeadroom needs usedMemory of shard 1

Totals: slotsMoved=12 steps=3
Hash:   sha256:abc
`,
    );
  });

  it('says in words that nothing is to be done', () => {
    const plan = envelope(
      'valkey-cluster',
      'default/cache',
      { operation: 'none', version: 1, steps: [], totals: {} },
      NOTHING,
    );
    expect(renderPlan(plan)).toContain('none, 0 steps\n\nNothing to do: what is observed is what is wanted.');
  });

  it('shows transitions with the states, the quorum, the commands and the confirmations of each step', () => {
    const text = renderPlan({
      lifecycle: 'datamesh',
      resource: 'vol',
      transitions: [
        {
          op: 'AddMember',
          member: 'c',
          plan: 'add-diskful/v1',
          group: 1,
          steps: [
            {
              from: '✕',
              to: 'D∅',
              q: 2,
              qmr: 1,
              confirm: ['a', 'b'],
              commands: { n1: ['drbdadm adjust'] },
              wait: '',
              irreversible: false,
              reason: 'a third copy',
            },
            {
              from: 'D∅',
              to: 'D∅',
              q: 2,
              qmr: 1,
              confirm: [],
              commands: {},
              wait: 'the first sync',
              irreversible: true,
              reason: 'it has no data yet',
            },
          ],
        },
      ],
      blocked: [{ intent: 'AddMember', member: 'c', guard: 'Zone', message: 'zone z is taken' }],
      unknown: [],
      hash: 'sha256:abc',
    });
    expect(text).toContain('datamesh vol: 1 transition');
    expect(text).toContain('  AddMember  c  by add-diskful/v1');
    expect(text).toContain('✕ → D∅  q=2 qmr=1');
    expect(text).toContain('n1: drbdadm adjust');
    expect(text).toContain('confirmed by a, b');
    expect(text).toContain('stays D∅  q=2 qmr=1  [cannot be undone]');
    expect(text).toContain('waits for the first sync');
    expect(text).toContain('Zone (c): zone z is taken');
  });
});
