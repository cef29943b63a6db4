import type { Transition, TransitionTable } from '../../shared/transitions.ts';

/** The specification's phases of an upgrade, in its order. */
export const UPGRADE_PHASES = [
  'Pending',
  'PreChecks',
  'InProgress',
  'Completed',
  'Failed',
  'RollingBack',
  'RolledBack',
] as const;
export type UpgradePhase = (typeof UPGRADE_PHASES)[number];

/** The specification gives no events: these are our proposal. */
export const UPGRADE_EVENTS = [
  'UpgradeAccepted',
  'UpgradeRefused',
  'PreChecksPassed',
  'ShardsUpgraded',
  'ShardFailed',
  'RollbackStarted',
  'ShardsRolledBack',
  'SpecChanged',
] as const;
export type UpgradeEvent = (typeof UPGRADE_EVENTS)[number];

type Row = Transition<UpgradePhase, UpgradeEvent>;
type OurRow = Row & { readonly why: string };

const SPECIFICATION: readonly Row[] = [
  { from: 'Pending', event: 'UpgradeAccepted', to: 'PreChecks' },
  { from: 'PreChecks', event: 'PreChecksPassed', to: 'InProgress' },
  { from: 'InProgress', event: 'ShardsUpgraded', to: 'Completed' },
  { from: 'InProgress', event: 'ShardFailed', to: 'Failed' },
  { from: 'InProgress', event: 'RollbackStarted', to: 'RollingBack' },
  { from: 'RollingBack', event: 'ShardsRolledBack', to: 'RolledBack' },
];

const OURS: readonly OurRow[] = [
  ...(['Pending', 'PreChecks'] as const).map((from): OurRow => ({
    from,
    event: 'UpgradeRefused',
    to: 'Failed',
    why: 'What can never be carried out (a version that is none, a downgrade, a second upgrade) fails before anything is touched.',
  })),
  {
    from: 'InProgress',
    event: 'PreChecksPassed',
    to: 'InProgress',
    why: 'An upgrade that was interrupted goes on from what is there; it was checked when it began.',
  },
  {
    from: 'RollingBack',
    event: 'RollbackStarted',
    to: 'RollingBack',
    why: 'A way back that was interrupted goes on from what is there.',
  },
  {
    from: 'Failed',
    event: 'SpecChanged',
    to: 'Pending',
    why: 'The specification lets a changed spec leave Failed.',
  },
];

/** What an upgrade goes through; nothing else can happen to its phase. */
export const UPGRADE_TABLE: TransitionTable<UpgradePhase, UpgradeEvent> = {
  phases: UPGRADE_PHASES,
  events: UPGRADE_EVENTS,
  specification: SPECIFICATION,
  ours: OURS,
};

/** Whether an upgrade has ended, so that it holds nobody up any more. */
export const isOver = (phase: UpgradePhase): boolean =>
  phase === 'Completed' || phase === 'Failed' || phase === 'RolledBack';
