import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { transition, type TransitionTable } from '../../../workflows/shared/transitions.ts';
import { leaveOut } from '../../../workflows/valkey-upgrade/domain/leave-out.ts';
import { UPGRADE_TABLE } from '../../../workflows/valkey-upgrade/domain/phases.ts';
import { SHARD_STATES, SHARD_TABLE, WORKING } from '../../../workflows/valkey-upgrade/domain/shard-states.ts';

const TABLES: readonly (readonly [string, TransitionTable<string, string>, phases: number])[] = [
  ['phases of an upgrade', UPGRADE_TABLE, 7],
  ['states of a shard', SHARD_TABLE, 9],
];

/** How each part of the specification reads as events. */
const FLOWS: readonly (readonly [
  string,
  TransitionTable<string, string>,
  start: string,
  steps: readonly (readonly [event: string, to: string])[],
])[] = [
  [
    'an upgrade that ends well',
    UPGRADE_TABLE,
    'Pending',
    [
      ['UpgradeAccepted', 'PreChecks'],
      ['PreChecksPassed', 'InProgress'],
      ['ShardsUpgraded', 'Completed'],
    ],
  ],
  [
    'an upgrade that is rolled back',
    UPGRADE_TABLE,
    'InProgress',
    [
      ['RollbackStarted', 'RollingBack'],
      ['ShardsRolledBack', 'RolledBack'],
    ],
  ],
  [
    'an upgrade that failed and is wanted otherwise',
    UPGRADE_TABLE,
    'InProgress',
    [
      ['ShardFailed', 'Failed'],
      ['SpecChanged', 'Pending'],
    ],
  ],
  [
    'the flow of a shard',
    SHARD_TABLE,
    'Pending',
    [
      ['ShardStarted', 'UpgradingReplicas'],
      ['ReplicasUpgraded', 'WaitingForSync'],
      ['ReplicasInSync', 'FailingOver'],
      ['MasterHandedOver', 'WaitingForClusterStable'],
      ['ClusterStable', 'UpgradingOldMaster'],
      ['OldMasterUpgraded', 'Completed'],
    ],
  ],
  [
    'the way back of a shard',
    SHARD_TABLE,
    'Completed',
    [
      ['RollbackStarted', 'FailingOver'],
      ['MasterHandedOver', 'WaitingForClusterStable'],
      ['ClusterStable', 'UpgradingOldMaster'],
      ['ShardRolledBack', 'Pending'],
    ],
  ],
];

const rowsOf = (table: TransitionTable<string, string>) => [...table.specification, ...table.ours];

describe.each(TABLES)('the %s', (_, table, phases) => {
  const rows = rowsOf(table);
  const has = (phase: string, event: string): boolean =>
    rows.some((row) => row.from === phase && row.event === event);

  it('are those of the specification', () => {
    expect(new Set(table.phases).size).toBe(phases);
  });

  it('have at most one row for each pair', () => {
    const pairs = rows.map((row) => `${row.from} ${row.event}`);
    expect(pairs.filter((pair, at) => pairs.indexOf(pair) !== at)).toEqual([]);
  });

  it.each(rows.map((row) => [row.from, row.event, row.to] as const))(
    'in %s, %s leads to %s',
    (from, event, to) => {
      expect(transition(table, from, event)).toMatchObject({ moved: true, to });
    },
  );

  const complement = table.phases.flatMap((phase) =>
    table.events.filter((event) => !has(phase, event)).map((event) => [phase, event] as const),
  );
  it.each(complement)('in %s, %s changes nothing and says so', (phase, event) => {
    expect(transition(table, phase, event)).toEqual({
      moved: false,
      refusal: `${event} does not lead anywhere from ${phase}`,
    });
  });

  it('use every event and reach every phase', () => {
    expect(new Set(rows.map((row) => row.event))).toEqual(new Set(table.events));
    expect(new Set(rows.map((row) => row.to))).toEqual(new Set(table.phases));
  });
});

describe('the tables together', () => {
  it.each(FLOWS)('carry %s', (_, table, start, steps) => {
    let phase = start;
    for (const [event, to] of steps) {
      expect(transition(table, phase, event)).toMatchObject({ moved: true, to });
      phase = to;
    }
  });

  it.each(WORKING)('let a shard fail, or be left, in %s', (state) => {
    expect(transition(SHARD_TABLE, state, 'ShardFailed')).toMatchObject({ moved: true, to: 'Failed' });
    expect(transition(SHARD_TABLE, state, 'ShardInterrupted')).toMatchObject({ moved: true, to: 'Pending' });
  });

  it.each(SHARD_STATES)('lead a shard in %s that is left out to Skipped', (state) => {
    expect(leaveOut(state)).toBe('Skipped');
  });

  it('have no event that nothing ever says', () => {
    const root = join(import.meta.dirname, '../../../workflows/valkey-upgrade');
    // The tables themselves say all of them; the cluster has a table of its own, and one event of the same name.
    const said = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !/(?:phases|shard-states)\.ts$/.test(name))
      .map((name) => readFileSync(join(root, name), 'utf8').replaceAll(/\breached\(run, '\w+'/g, ''))
      .join('\n');
    const events = [...UPGRADE_TABLE.events, ...SHARD_TABLE.events];
    expect(events.filter((event) => !said.includes(`'${event}'`))).toEqual([]);
  });

  it('let nothing leave Completed and RolledBack', () => {
    const left = rowsOf(UPGRADE_TABLE).filter(({ from }) => from === 'Completed' || from === 'RolledBack');
    expect(left).toEqual([]);
  });
});
