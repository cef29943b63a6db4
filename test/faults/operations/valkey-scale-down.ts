import { changeUnderAudit } from './valkey-change.ts';

/** From 4 to 3 masters: slots move away, nodes are forgotten, pods go. */
export const valkeyScaleDown = changeUnderAudit(
  'valkey-scale-down',
  { masters: 4, replicasPerMaster: 1 },
  { masters: 3, replicasPerMaster: 1 },
);
