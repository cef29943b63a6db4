import { changeUnderAudit } from './valkey-change.ts';

/** From 3 to 4 masters: pods come, nodes meet, slots move. */
export const valkeyScaleUp = changeUnderAudit(
  'valkey-scale-up',
  { masters: 3, replicasPerMaster: 1 },
  { masters: 4, replicasPerMaster: 1 },
);
