import { describe, expect, it } from 'vitest';
import { buildConditions, type ValkeyView } from '../../../workflows/valkey-cluster/domain/conditions.ts';
import { buildStatus } from '../../../workflows/valkey-cluster/domain/status.ts';
import { sampleCluster } from './sample-cluster.ts';
import { sampleObservation } from './sample-observation.ts';

const settled: ValkeyView = {
  observed: sampleObservation(),
  phase: 'Running',
  message: '',
  reason: 'Settled',
  operation: null,
  blocked: null,
  failure: null,
  paused: false,
  carriedOut: 1,
  last: null,
};

/** `Ready=True(ClusterHealthy)` and so on, in the order of the specification. */
const said = (view: ValkeyView): readonly string[] =>
  buildConditions(view).map(({ type, status, reason }) => `${type}=${status}(${reason})`);

const messageOf = (view: ValkeyView, type: string): string | undefined =>
  buildConditions(view).find((condition) => condition.type === type)?.message;

const without = (pods: readonly string[]): ValkeyView['observed'] => {
  const whole = sampleObservation();
  return {
    ...whole,
    nodes: whole.nodes.map((node) => (pods.includes(node.pod) ? { ...node, ready: false } : node)),
  };
};

describe('conditions', () => {
  it('say of a healthy cluster what the specification says', () => {
    expect(said(settled)).toEqual([
      'Ready=True(ClusterHealthy)',
      'Progressing=False(AsDesired)',
      'Degraded=False(NotDegraded)',
      'Available=True(MastersServing)',
    ]);
    expect(messageOf(settled, 'Ready')).toBe('All 6 nodes healthy, 16384/16384 slots assigned');
    expect(buildConditions(settled).every((condition) => condition.observedGeneration === 1)).toBe(true);
  });

  it('say of a creation under way that it progresses, and that nothing is missing yet', () => {
    const observed = sampleObservation({ nodes: [], pods: [], shards: [] });
    const view: ValkeyView = {
      ...settled,
      observed: { ...observed, health: { ...observed.health, ok: false, slotsAssigned: 0 } },
      phase: 'WaitingForPods',
      operation: { name: 'create', startedAtMs: 0 },
      carriedOut: null,
    };
    expect(said(view)).toEqual([
      'Ready=False(WaitingForPods)',
      'Progressing=True(WaitingForPods)',
      'Degraded=False(NotDegraded)',
      'Available=False(NoMasterReady)',
    ]);
  });

  it('say of a cluster with a node away that it is degraded and still available', () => {
    const view: ValkeyView = { ...settled, observed: without(['cache-0-1']), phase: 'Degraded' };
    expect(said(view)).toEqual([
      'Ready=False(Degraded)',
      'Progressing=False(AsDesired)',
      'Degraded=True(NodesMissing)',
      'Available=True(MastersServing)',
    ]);
  });

  it('say that nothing is available when no node is ready, whatever the phase', () => {
    const all = sampleObservation().nodes.map((node) => node.pod);
    expect(said({ ...settled, observed: without(all) })).toContain('Available=False(NoMasterReady)');
  });

  it('name the field that mends an image that cannot be had', () => {
    const observed = without(['cache-0-1']);
    const pods = observed.pods.map((pod) =>
      pod.name === 'cache-0-1'
        ? { ...pod, ready: false, image: 'valkey/valkey:9.9.9', waiting: 'ErrImagePull: not found' }
        : pod,
    );
    const view: ValkeyView = { ...settled, observed: { ...observed, pods }, phase: 'WaitingForPods' };
    expect(said(view)[0]).toBe('Ready=False(ImagePullFailed)');
    expect(messageOf(view, 'Ready')).toMatch(
      /valkey\/valkey:9\.9\.9: correct spec\.image\.repository or spec\.image\.tag/,
    );
  });

  it('say of a failure what it is, and that nothing goes on without a change', () => {
    const failure = { code: 'ValkeyDataLost', class: 'permanent', message: 'slots 0-5460 are gone' } as const;
    const view: ValkeyView = { ...settled, phase: 'Failed', failure };
    expect(said(view).slice(0, 3)).toEqual([
      'Ready=False(ValkeyDataLost)',
      'Progressing=False(ValkeyDataLost)',
      'Degraded=True(ValkeyDataLost)',
    ]);
  });

  it('say of a blocked plan what blocks it, in the words of the guard', () => {
    const view: ValkeyView = { ...settled, reason: 'Blocked', blocked: 'Secret cache-auth does not exist' };
    expect(messageOf(view, 'Progressing')).toBe('Secret cache-auth does not exist');
  });
});

describe('the status', () => {
  it('has the fields of the specification, counted from what was observed', () => {
    const status = buildStatus({ ...settled, observed: without(['cache-0-1']) });
    expect(status).toMatchObject({
      phase: 'Running',
      observedGeneration: 1,
      readyNodes: '5/6',
      readyMasters: 3,
      readyReplicas: 2,
      assignedSlots: '16384/16384',
      selector: 'valkey-operator.smoketurner.com/cluster=cache',
      valkeyVersion: '9.1.2',
      connectionEndpoint: 'cache.default.svc:6379',
      connectionSecret: 'cache-auth',
    });
    expect(status['topology']).toMatchObject({
      masters: [
        { podName: 'cache-0-0', shard: 0, slotRanges: ['0-5460'], replicas: [{ podName: 'cache-0-1' }] },
        {},
        {},
      ],
    });
  });

  it('names the operation and when it began', () => {
    const operation = { name: 'create', startedAtMs: Date.UTC(2024, 0, 15, 10, 30) };
    expect(buildStatus({ ...settled, operation })).toMatchObject({
      currentOperation: 'create',
      operationStartedAt: '2024-01-15T10:30:00Z',
    });
  });

  it('says after a cancellation what was undone', () => {
    const view: ValkeyView = {
      ...settled,
      message: 'scale-up was cancelled: too early',
      reason: 'OperationCancelled',
      last: { facts: { undone: 'back to 3 masters' } },
    };
    const message = 'scale-up was cancelled: too early; undone: back to 3 masters';
    expect(buildStatus(view)).toMatchObject({ message });
  });

  it('keeps which rebalance was carried out, and takes a new one over only when nothing is left to do', () => {
    const asked = { 'valkey-operator.smoketurner.com/rebalance': 'now' };
    const cluster = { ...sampleCluster(), annotations: asked, rebalancedFor: 'before' };
    const observed = sampleObservation({ cluster });
    const under = buildStatus({ ...settled, observed, reason: 'OperationRunning' });
    expect(under).toMatchObject({ rebalancedFor: 'before' });
    expect(buildStatus({ ...settled, observed, reason: 'Settled' })).toMatchObject({ rebalancedFor: 'now' });
  });

  it('does not claim a generation before it was carried out', () => {
    expect(buildStatus({ ...settled, carriedOut: null })).not.toHaveProperty('observedGeneration');
  });
});
