import { describe, expect, it } from 'vitest';
import type { ValkeyNode, ValkeyObservation } from '../../../workflows/valkey-cluster/domain/observation.ts';
import { valkeyLifecycle } from '../../../workflows/valkey-cluster/lifecycle.ts';
import { heirOf } from '../../../workflows/valkey-cluster/domain/rescue.ts';
import { sampleObservation } from './sample-observation.ts';

/** The master of shard 0 came back without its data, as a new node; its replica follows whom it knew. */
function emptied(slots: ValkeyObservation['orphans'][number]['slots']): ValkeyObservation {
  const seen = sampleObservation();
  const lost = seen.nodes.find((node) => node.shard === 0 && node.role === 'master');
  const fresh = (node: ValkeyNode): ValkeyNode =>
    node === lost ? { ...node, id: 'fresh', slots: [] } : node;
  return {
    ...seen,
    nodes: seen.nodes.map(fresh),
    orphans: [{ id: lost?.id ?? '', address: '127.0.0.9', role: 'master', slots, failed: true }],
  };
}

/** What is planned when everybody knows where everybody is. */
function planned(change: Partial<ValkeyObservation['orphans'][number]> = {}): readonly object[] {
  const seen = emptied([[0, 5460]]);
  const orphans = seen.orphans.map((orphan) => ({ ...orphan, ...change }));
  const health = { ...seen.health, ok: false, apart: [] };
  const observed = { ...seen, orphans, health };
  return valkeyLifecycle.plan(observed, { carriedOut: 1, knows: () => true }).steps;
}

describe('the heir of a shard', () => {
  it('is the replica of a lost master that still owns slots', () => {
    expect(heirOf(emptied([[0, 5460]]), 0)).toMatchObject({ role: 'replica', shard: 0 });
  });

  it('is nobody where the lost one owns none, in other shards, and where all is well', () => {
    expect(heirOf(emptied([]), 0)).toBeNull();
    expect(heirOf(emptied([[0, 5460]]), 1)).toBeNull();
    expect(heirOf(sampleObservation(), 0)).toBeNull();
  });

  it('asks for votes once a majority calls its master failed, and nothing else is done before', () => {
    expect(planned()).toMatchObject([{ kind: 'HandOver', shard: 0, takeOver: 'voted', irreversible: true }]);
  });

  it('is left to Valkey until then, and attached to nobody', () => {
    expect(planned({ failed: false })).not.toContainEqual(expect.objectContaining({ kind: 'HandOver' }));
    expect(planned({ failed: false })).not.toContainEqual(
      expect.objectContaining({ kind: 'AttachReplica', shard: 0 }),
    );
  });
});
