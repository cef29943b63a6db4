import { describe, expect, it } from 'vitest';
import { describeLoss } from '../../../workflows/valkey-cluster/domain/loss.ts';
import { selectMasters } from '../../../workflows/valkey-cluster/domain/selection.ts';
import { clusterNodes, freshNode } from '../../plans/valkey-cluster/simulated-cluster.ts';
import { sampleObservation } from './sample-observation.ts';

describe('the masters of a new cluster', () => {
  it('are spread over the nodes of Kubernetes, whatever their ordinals', () => {
    const places = [
      ['a', 'b'],
      ['a', 'b'],
      ['a', 'c'],
    ];
    const nodes = places.flatMap((pair, shard) =>
      pair.map((node, ordinal) => ({ ...freshNode(shard, ordinal), node, zone: `zone-${node}` })),
    );
    const masters = selectMasters(sampleObservation({ nodes }));
    expect([...masters.values()].map((node) => node.pod)).toEqual(['cache-0-0', 'cache-1-1', 'cache-2-1']);
  });

  it('are those that serve slots already, or are followed', () => {
    const nodes = clusterNodes([5461, 5461, 0], 1, 1);
    const masters = selectMasters(sampleObservation({ nodes }));
    expect([...masters.values()].map((node) => node.pod)).toEqual(['cache-0-1', 'cache-1-1', 'cache-2-1']);
  });

  it('are never chosen among replicas', () => {
    const nodes = clusterNodes([5461, 5461, 5462], 1).filter((node) => node.pod !== 'cache-0-0');
    expect(selectMasters(sampleObservation({ nodes })).has(0)).toBe(false);
  });
});

describe('slots that nobody serves', () => {
  const withoutShard = clusterNodes([5461, 5461, 5462], 1).map((node) =>
    node.shard === 0 ? freshNode(0, Number(node.pod.at(-1))) : node,
  );
  const orphan = { id: 'old', address: '', role: 'master', slots: [[0, 5460]], failed: true } as const;

  it('are lost when all pods are back and none has them', () => {
    expect(describeLoss(sampleObservation({ nodes: withoutShard, orphans: [orphan] }))).toMatch(
      /^slots 0-5460 are served by no node/,
    );
  });

  it('are not lost while a pod is still on its way', () => {
    const observed = sampleObservation({ nodes: withoutShard, orphans: [orphan] });
    const pods = observed.pods.map((pod, at) => (at === 0 ? { ...pod, ready: false } : pod));
    expect(describeLoss({ ...observed, pods })).toBeNull();
  });

  it('are not lost while a replica of their master stands for election', () => {
    const nodes = withoutShard.map((node) =>
      node.pod === 'cache-0-1' ? { ...node, role: 'replica' as const, masterId: 'old' } : node,
    );
    expect(describeLoss(sampleObservation({ nodes, orphans: [orphan] }))).toBeNull();
  });

  it('are none in a cluster that is whole', () => {
    expect(describeLoss(sampleObservation())).toBeNull();
  });
});
