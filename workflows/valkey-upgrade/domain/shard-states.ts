import type { Transition, TransitionTable } from '../../shared/transitions.ts';

/** The specification's nine states of a shard, in its order. */
export const SHARD_STATES = [
  'Pending',
  'UpgradingReplicas',
  'WaitingForSync',
  'FailingOver',
  'WaitingForClusterStable',
  'UpgradingOldMaster',
  'Completed',
  'Failed',
  'Skipped',
] as const;
export type ShardState = (typeof SHARD_STATES)[number];

/** The specification gives no events: these are our proposal. */
export const SHARD_EVENTS = [
  'ShardStarted',
  'ReplicasUpgraded',
  'ReplicasInSync',
  'MasterHandedOver',
  'ClusterStable',
  'OldMasterUpgraded',
  'ShardSkipped',
  'ShardFailed',
  'ShardInterrupted',
  'RollbackStarted',
  'ShardRolledBack',
] as const;
export type ShardEvent = (typeof SHARD_EVENTS)[number];

type Row = Transition<ShardState, ShardEvent>;
type OurRow = Row & { readonly why: string };

/** States in which a shard is being worked on. */
export const WORKING: readonly ShardState[] = SHARD_STATES.slice(1, 6);

const SPECIFICATION: readonly Row[] = [
  { from: 'Pending', event: 'ShardStarted', to: 'UpgradingReplicas' },
  { from: 'UpgradingReplicas', event: 'ReplicasUpgraded', to: 'WaitingForSync' },
  { from: 'WaitingForSync', event: 'ReplicasInSync', to: 'FailingOver' },
  { from: 'FailingOver', event: 'MasterHandedOver', to: 'WaitingForClusterStable' },
  { from: 'WaitingForClusterStable', event: 'ClusterStable', to: 'UpgradingOldMaster' },
  { from: 'UpgradingOldMaster', event: 'OldMasterUpgraded', to: 'Completed' },
  { from: 'Pending', event: 'ShardSkipped', to: 'Skipped' },
  ...WORKING.map((from): Row => ({ from, event: 'ShardFailed', to: 'Failed' })),
];

const rows = (
  from: readonly ShardState[],
  event: ShardEvent,
  to: ShardState,
  why: string,
): readonly OurRow[] => from.map((one) => ({ from: one, event, to, why }));

const OURS: readonly OurRow[] = [
  ...rows(
    ['Pending', ...WORKING],
    'ShardInterrupted',
    'Pending',
    'A newer wish or a cancellation: what is left to do is planned again from what is there.',
  ),
  ...rows(
    ['Completed', 'Failed', 'Skipped'],
    'ShardStarted',
    'UpgradingReplicas',
    'Another plan found something to do: a repair forward, or a node that came back with the old version.',
  ),
  ...rows(
    ['Completed', 'Failed', 'Skipped'],
    'ShardSkipped',
    'Skipped',
    'Another plan found something to do, and a person wants the shard left as it is.',
  ),
  ...rows(
    ['Pending', 'Completed', 'Failed', 'Skipped'],
    'RollbackStarted',
    'FailingOver',
    'The way back begins with handing the shard to a node of the old version, while there is one.',
  ),
  ...rows(
    ['UpgradingOldMaster'],
    'ShardRolledBack',
    'Pending',
    'All nodes run the old version again: as if the shard had never been touched.',
  ),
];

/** What a shard goes through in an upgrade; nothing else can happen to its state. */
export const SHARD_TABLE: TransitionTable<ShardState, ShardEvent> = {
  phases: SHARD_STATES,
  events: SHARD_EVENTS,
  specification: SPECIFICATION,
  ours: OURS,
};
