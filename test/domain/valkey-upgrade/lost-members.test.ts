import { describe, expect, it } from 'vitest';
import type { ValkeyOrphan } from '../../../workflows/valkey-cluster/domain/observation.ts';
import { lostMembers } from '../../../workflows/valkey-upgrade/domain/lost-members.ts';
import { worldOn } from '../../plans/valkey-upgrade/shards-on-versions.ts';

const lost = (change: Partial<ValkeyOrphan> = {}): ValkeyOrphan => ({
  id: 'lost',
  address: '',
  role: 'replica',
  slots: [],
  failed: true,
  ...change,
});

const whole = { ...worldOn('9.0.0', 1), orphans: [lost()] };

describe('members that are lost', () => {
  it('are those that no pod is any more, with volumes and without', () => {
    expect(lostMembers(whole, true)).toEqual(['lost']);
    expect(lostMembers(whole, false)).toEqual(['lost']);
  });

  it.each([
    ['has not said who it is', { nodeId: null }],
    ['is about to go, and another one to come', { terminating: true }],
  ])('may come back with their volume while a pod %s, and never without one', (_, change) => {
    const pods = whole.pods.map((pod) => (pod.name === 'cache-0-1' ? { ...pod, ...change } : pod));
    expect(lostMembers({ ...whole, pods }, true)).toEqual([]);
    expect(lostMembers({ ...whole, pods }, false)).toEqual(['lost']);
  });

  it('are not those that slots wait with for an election', () => {
    const orphans = [lost({ role: 'master', slots: [[0, 99]] })];
    expect(lostMembers({ ...whole, orphans }, false)).toEqual([]);
  });

  it('are not those that somebody still follows, who would refuse to forget them', () => {
    const nodes = whole.nodes.map((node) =>
      node.pod === 'cache-0-1' ? { ...node, masterId: 'lost' } : node,
    );
    expect(lostMembers({ ...whole, nodes }, false)).toEqual([]);
  });
});
