import { changeUnderAudit } from './valkey-change.ts';

/** From 2 replicas of each master to 1: a master that is to go hands over, nodes are forgotten, and pods go. */
export const valkeyReplicas = changeUnderAudit(
  'valkey-replicas',
  { masters: 3, replicasPerMaster: 2 },
  { masters: 3, replicasPerMaster: 1 },
  ['cache-0-2', 'cache-1-0', 'cache-2-0'],
);
