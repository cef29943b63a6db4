import type { Transition, TransitionTable } from '../../shared/transitions.ts';

/** The specification's phases, in its order. */
export const PHASES = [
  'Pending',
  'Creating',
  'WaitingForPods',
  'InitializingCluster',
  'AssigningSlots',
  'ConfiguringReplicas',
  'Running',
  'ScalingUpStatefulSet',
  'WaitingForNewPods',
  'AddingNodesToCluster',
  'RebalancingSlots',
  'ConfiguringNewReplicas',
  'EvacuatingSlots',
  'RemovingNodesFromCluster',
  'ScalingDownStatefulSet',
  'VerifyingClusterHealth',
  'Degraded',
  'Failed',
  'Deleting',
] as const;
export type Phase = (typeof PHASES)[number];

/** The specification's events, in its order. */
export const EVENTS = [
  'ResourcesApplied',
  'StatefulSetReady',
  'PodsRunning',
  'ClusterMeetComplete',
  'SlotsAssigned',
  'ReplicasConfigured',
  'SpecChanged',
  'ScaleUpDetected',
  'ScaleDownDetected',
  'ReplicaScaleDownDetected',
  'StatefulSetScaled',
  'NodesAdded',
  'SlotsRebalanced',
  'SlotsMigrated',
  'NodesRemoved',
  'ClusterHealthy',
  'ReplicasDegraded',
  'ReconcileError',
  'DeletionRequested',
  'RecoveryInitiated',
] as const;
export type Event = (typeof EVENTS)[number];

/** The four conditions that the specification puts on transitions. */
export type PhaseGuard = 'AllPodsRunning' | 'HealthyWithAllSlots' | 'SomeNodesReady' | 'AllNodesReady';

type Row = Transition<Phase, Event> & { readonly guard?: PhaseGuard };
type OurRow = Row & { readonly why: string };

const CREATION: readonly Phase[] = PHASES.slice(1, 6);
const CHANGE: readonly Phase[] = PHASES.slice(7, 16);
const RESUMABLE: readonly Phase[] = ['Pending', 'Degraded', ...CHANGE];
const DETECTIONS = [
  ['ScaleUpDetected', 'ScalingUpStatefulSet'],
  ['ScaleDownDetected', 'EvacuatingSlots'],
  ['ReplicaScaleDownDetected', 'RemovingNodesFromCluster'],
] as const;

const SPECIFICATION: readonly Row[] = [
  { from: 'Pending', event: 'ResourcesApplied', to: 'Creating' },
  { from: 'Creating', event: 'StatefulSetReady', to: 'WaitingForPods' },
  { from: 'WaitingForPods', event: 'PodsRunning', to: 'InitializingCluster', guard: 'AllPodsRunning' },
  { from: 'InitializingCluster', event: 'ClusterMeetComplete', to: 'AssigningSlots' },
  { from: 'AssigningSlots', event: 'SlotsAssigned', to: 'ConfiguringReplicas' },
  { from: 'ConfiguringReplicas', event: 'ReplicasConfigured', to: 'VerifyingClusterHealth' },
  { from: 'VerifyingClusterHealth', event: 'ClusterHealthy', to: 'Running', guard: 'HealthyWithAllSlots' },
  { from: 'Running', event: 'ScaleUpDetected', to: 'ScalingUpStatefulSet' },
  { from: 'ScalingUpStatefulSet', event: 'StatefulSetScaled', to: 'WaitingForNewPods' },
  { from: 'WaitingForNewPods', event: 'PodsRunning', to: 'AddingNodesToCluster' },
  { from: 'AddingNodesToCluster', event: 'NodesAdded', to: 'RebalancingSlots' },
  { from: 'RebalancingSlots', event: 'SlotsRebalanced', to: 'ConfiguringNewReplicas' },
  { from: 'ConfiguringNewReplicas', event: 'ReplicasConfigured', to: 'VerifyingClusterHealth' },
  { from: 'Running', event: 'ScaleDownDetected', to: 'EvacuatingSlots' },
  { from: 'EvacuatingSlots', event: 'SlotsMigrated', to: 'RemovingNodesFromCluster' },
  { from: 'Running', event: 'ReplicaScaleDownDetected', to: 'RemovingNodesFromCluster' },
  { from: 'RemovingNodesFromCluster', event: 'NodesRemoved', to: 'ScalingDownStatefulSet' },
  { from: 'ScalingDownStatefulSet', event: 'StatefulSetScaled', to: 'VerifyingClusterHealth' },
  { from: 'Running', event: 'ReplicasDegraded', to: 'Degraded', guard: 'SomeNodesReady' },
  { from: 'Degraded', event: 'ClusterHealthy', to: 'Running', guard: 'AllNodesReady' },
  ...PHASES.filter((phase) => phase !== 'Failed' && phase !== 'Deleting').map((from): Row => ({
    from,
    event: 'ReconcileError',
    to: 'Failed',
  })),
  { from: 'Failed', event: 'RecoveryInitiated', to: 'Pending' },
  { from: '*', event: 'DeletionRequested', to: 'Deleting' },
];

const rows = (from: readonly Phase[], event: Event, to: Phase | null, why: string): readonly OurRow[] =>
  from.map((phase) => ({ from: phase, event, to: to ?? phase, why }));

const guarded = (guard: PhaseGuard, of: readonly OurRow[]): readonly OurRow[] =>
  of.map((row) => ({ ...row, guard }));

const OURS: readonly OurRow[] = [
  ...rows(CREATION, 'SpecChanged', 'Pending', 'A wish that changes during creation is planned anew.'),
  ...rows(['Failed'], 'SpecChanged', 'Pending', 'The specification lets a changed spec leave Failed.'),
  ...rows(
    ['Running', ...CHANGE.filter((phase) => phase !== 'VerifyingClusterHealth')],
    'SpecChanged',
    'VerifyingClusterHealth',
    'A change without new or leaving nodes (a restart, a setting), and a superseded one, is verified too.',
  ),
  ...rows(
    ['Pending', 'VerifyingClusterHealth', 'Degraded', 'Deleting'],
    'SpecChanged',
    null,
    'The newest wish is planned next, and this phase already says so.',
  ),
  ...DETECTIONS.flatMap(([event, to]) =>
    rows(
      RESUMABLE.filter((phase) => phase !== to),
      event,
      to,
      'Superseded in the middle, recovered, or masters and replicas changing together: the next part begins.',
    ),
  ),
  ...rows(
    CREATION,
    'RecoveryInitiated',
    'Pending',
    'A creation that was interrupted or cancelled goes on from what is there.',
  ),
  ...rows(
    CHANGE.filter((phase) => phase !== 'VerifyingClusterHealth'),
    'RecoveryInitiated',
    'VerifyingClusterHealth',
    'A cancelled change is undone, and what it leaves is verified.',
  ),
  ...rows(
    ['Pending', 'Running', 'VerifyingClusterHealth', 'Degraded', 'Deleting'],
    'RecoveryInitiated',
    null,
    'A cancelled restart, repair or deletion leaves the phase to what is observed next.',
  ),
  ...guarded(
    'HealthyWithAllSlots',
    rows(
      ['Pending', ...CHANGE.filter((phase) => phase !== 'VerifyingClusterHealth')],
      'ClusterHealthy',
      'Running',
      'Found whole after a recovery, or after a change that was given up.',
    ),
  ),
  ...guarded(
    'SomeNodesReady',
    rows(
      ['Pending', ...CHANGE],
      'ReplicasDegraded',
      'Degraded',
      'Found with nodes missing after a recovery, or after a change that was given up. Without a single ready node the phase stays and Available is False.',
    ),
  ),
];

/** What a Valkey cluster goes through; nothing else can happen to its phase. */
export const PHASE_TABLE: TransitionTable<Phase, Event> & {
  readonly specification: readonly Row[];
  readonly ours: readonly OurRow[];
} = { phases: PHASES, events: EVENTS, specification: SPECIFICATION, ours: OURS };
