import type {
  ValkeyClusterResource,
  ValkeyClusterSpec,
} from '../../../workflows/valkey-cluster/domain/observation.ts';
import { DEFAULT_SPEC } from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';

/** The default spec with a password, as the API server fills it in. */
export const sampleSpec: ValkeyClusterSpec = {
  ...DEFAULT_SPEC,
  auth: { secretRef: { name: 'cache-auth', key: 'password' } },
};

/** A resource named `default/cache`, with what a test changes of its spec. */
export const sampleCluster = (
  spec: Partial<ValkeyClusterSpec> = {},
  name = 'cache',
): ValkeyClusterResource => ({
  namespace: 'default',
  name,
  uid: '0f8b7953-011e-477f-8606-d276d12a76e0',
  generation: 1,
  deleting: false,
  finalizers: [],
  annotations: {},
  spec: { ...sampleSpec, ...spec },
  phase: null,
  observedGeneration: 0,
});
