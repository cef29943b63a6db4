export { valkeyCluster, valkeyClusterPlan } from './valkey-cluster/entity.ts';
export { createValkeyCluster } from './valkey-cluster/operations/create.ts';
export { deleteValkeyCluster } from './valkey-cluster/operations/delete.ts';
export { healValkeyCluster } from './valkey-cluster/operations/heal.ts';
