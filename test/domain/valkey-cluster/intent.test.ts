import { describe, expect, it } from 'vitest';
import type { ValkeyObservation } from '../../../workflows/valkey-cluster/domain/observation.ts';
import { valkeyLifecycle } from '../../../workflows/valkey-cluster/lifecycle.ts';
import { sampleObservation } from './sample-observation.ts';

/** A whole cluster whose objects carry what an older version gave them, which this one would never build. */
const builtByAnother = (intended: ValkeyObservation['intended']): ValkeyObservation => {
  const seen = sampleObservation();
  return {
    ...seen,
    pods: seen.pods.map((pod) => ({ ...pod, templateHash: 'template-then' })),
    shards: seen.shards.map((set) => ({ ...set, appliedHash: 'objects-then' })),
    ...(intended === undefined ? {} : { intended }),
  };
};
const kindsOf = (observed: ValkeyObservation): readonly string[] =>
  valkeyLifecycle.plan(observed, { carriedOut: 1, knows: () => true }).steps.map((step) => step.id);

describe('the hashes that a cluster should carry', () => {
  it('are those that were seen, so that a history is read the same by a version that builds other objects', () => {
    const then = { templateHash: 'template-then', appliedHash: 'objects-then' };
    expect(kindsOf(builtByAnother(then))).toEqual([]);
  });

  it('make a plan where they were seen to differ', () => {
    const now = { templateHash: 'template-now', appliedHash: 'objects-now' };
    expect(kindsOf(builtByAnother(now))).not.toEqual([]);
  });

  it('are computed for an observation of a version that did not write them down', () => {
    expect(kindsOf(builtByAnother(undefined))).not.toEqual([]);
  });
});
