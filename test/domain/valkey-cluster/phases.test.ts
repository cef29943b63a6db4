import { describe, expect, it } from 'vitest';
import { transition } from '../../../workflows/shared/transitions.ts';
import {
  judgePhaseGuard,
  refusePhaseEvent,
  type PhaseFacts,
} from '../../../workflows/valkey-cluster/domain/phase-guards.ts';
import {
  EVENTS,
  PHASE_TABLE,
  PHASES,
  type Event,
  type Phase,
} from '../../../workflows/valkey-cluster/domain/phases.ts';

const FLOWS: Record<string, readonly [start: Phase, ...steps: readonly (readonly [Event, Phase])[]]> = {
  'initial creation': [
    'Pending',
    ['ResourcesApplied', 'Creating'],
    ['StatefulSetReady', 'WaitingForPods'],
    ['PodsRunning', 'InitializingCluster'],
    ['ClusterMeetComplete', 'AssigningSlots'],
    ['SlotsAssigned', 'ConfiguringReplicas'],
    ['ReplicasConfigured', 'VerifyingClusterHealth'],
    ['ClusterHealthy', 'Running'],
  ],
  'scale up, of masters or of replicas only': [
    'Running',
    ['ScaleUpDetected', 'ScalingUpStatefulSet'],
    ['StatefulSetScaled', 'WaitingForNewPods'],
    ['PodsRunning', 'AddingNodesToCluster'],
    ['NodesAdded', 'RebalancingSlots'],
    ['SlotsRebalanced', 'ConfiguringNewReplicas'],
    ['ReplicasConfigured', 'VerifyingClusterHealth'],
    ['ClusterHealthy', 'Running'],
  ],
  'scale down of masters': [
    'Running',
    ['ScaleDownDetected', 'EvacuatingSlots'],
    ['SlotsMigrated', 'RemovingNodesFromCluster'],
    ['NodesRemoved', 'ScalingDownStatefulSet'],
    ['StatefulSetScaled', 'VerifyingClusterHealth'],
    ['ClusterHealthy', 'Running'],
  ],
  'scale down of replicas only': [
    'Running',
    ['ReplicaScaleDownDetected', 'RemovingNodesFromCluster'],
    ['NodesRemoved', 'ScalingDownStatefulSet'],
    ['StatefulSetScaled', 'VerifyingClusterHealth'],
    ['ClusterHealthy', 'Running'],
  ],
  'degradation and recovery': ['Running', ['ReplicasDegraded', 'Degraded'], ['ClusterHealthy', 'Running']],
  'failure and recovery': ['Creating', ['ReconcileError', 'Failed'], ['RecoveryInitiated', 'Pending']],
};

const allRows = [...PHASE_TABLE.specification, ...PHASE_TABLE.ours];
const expanded = allRows.flatMap((row) =>
  row.from === '*'
    ? PHASES.filter((phase) => phase !== row.to).map((from) => ({ ...row, from }))
    : [{ ...row, from: row.from }],
);
const has = (phase: Phase, event: Event): boolean =>
  expanded.some((row) => row.from === phase && row.event === event);

describe('the phase table', () => {
  it('has the 19 phases and 20 events of the specification', () => {
    expect(new Set(PHASES).size).toBe(19);
    expect(new Set(EVENTS).size).toBe(20);
  });

  it.each(Object.entries(FLOWS))('carries the flow of %s', (_, [start, ...steps]) => {
    let phase = start;
    for (const [event, to] of steps) {
      const outcome = transition(PHASE_TABLE, phase, event);
      expect(outcome).toMatchObject({ moved: true, to });
      phase = to;
    }
  });

  it('has at most one row for each phase and event', () => {
    const pairs = expanded.map((row) => `${row.from} ${row.event}`);
    expect(pairs.filter((pair, at) => pairs.indexOf(pair) !== at)).toEqual([]);
  });

  it.each(expanded.map((row) => [row.from, row.event, row.to] as const))(
    'in %s, %s leads to %s',
    (from, event, to) => {
      expect(transition(PHASE_TABLE, from, event)).toMatchObject({ moved: true, to });
    },
  );

  const complement = PHASES.flatMap((phase) =>
    EVENTS.filter((event) => !has(phase, event)).map((event) => [phase, event] as const),
  );
  it.each(complement)('in %s, %s changes nothing and says so', (phase, event) => {
    expect(transition(PHASE_TABLE, phase, event)).toEqual({
      moved: false,
      refusal: `${event} does not lead anywhere from ${phase}`,
    });
  });

  it('uses every event and reaches every phase', () => {
    expect(new Set(expanded.map((row) => row.event))).toEqual(new Set(EVENTS));
    expect(new Set(expanded.map((row) => row.to))).toEqual(new Set(PHASES));
  });

  it.each(PHASES.filter((phase) => phase !== 'Deleting'))('lets a deletion begin in %s', (phase) => {
    expect(transition(PHASE_TABLE, phase, 'DeletionRequested')).toMatchObject({
      moved: true,
      to: 'Deleting',
    });
  });

  it('lets nothing leave Deleting', () => {
    expect(expanded.filter((row) => row.from === 'Deleting' && row.to !== 'Deleting')).toEqual([]);
  });

  it.each(['SpecChanged', 'RecoveryInitiated'] as const)(
    'lets an operation in any phase end early by %s',
    (event) => {
      expect(PHASES.filter((phase) => !has(phase, event))).toEqual([]);
    },
  );
});

const whole: PhaseFacts = {
  podsRunning: 6,
  podsDesired: 6,
  nodesReady: 6,
  healthy: true,
  slotsAssigned: 16384,
};

describe('the guards of the specification', () => {
  it('wait for all pods before a cluster is formed', () => {
    expect(judgePhaseGuard('AllPodsRunning', whole)).toBeNull();
    expect(judgePhaseGuard('AllPodsRunning', { ...whole, podsRunning: 5 })).toBe('5 of 6 pods are Running');
  });

  it('let only a healthy cluster with all slots be Running', () => {
    expect(judgePhaseGuard('HealthyWithAllSlots', whole)).toBeNull();
    expect(judgePhaseGuard('HealthyWithAllSlots', { ...whole, healthy: false })).toMatch(/cluster is ok/);
    expect(judgePhaseGuard('HealthyWithAllSlots', { ...whole, slotsAssigned: 16383 })).toBe(
      '16383 of 16384 slots are assigned',
    );
  });

  it.each([
    [0, false],
    [1, true],
    [5, true],
    [6, false],
  ])('with %i of 6 nodes ready, say of Degraded: %s', (nodesReady, allowed) => {
    expect(judgePhaseGuard('SomeNodesReady', { ...whole, nodesReady }) === null).toBe(allowed);
  });

  it.each([
    [5, false],
    [6, true],
    [7, true],
  ])('with %i of 6 nodes ready, say of Running again: %s', (nodesReady, allowed) => {
    expect(judgePhaseGuard('AllNodesReady', { ...whole, nodesReady }) === null).toBe(allowed);
  });

  it('are asked for the row that an event takes, and only for that', () => {
    expect(refusePhaseEvent('Running', 'ReplicasDegraded', { ...whole, nodesReady: 0 })).toBe(
      '0 of 6 nodes are ready',
    );
    expect(refusePhaseEvent('Running', 'ScaleUpDetected', { ...whole, nodesReady: 0 })).toBeNull();
    expect(refusePhaseEvent('Running', 'NodesAdded', whole)).toMatch(/does not lead anywhere/);
  });
});
