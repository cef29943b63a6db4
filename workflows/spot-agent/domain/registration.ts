import type { InstanceStatus, ReplicaStatus } from './observation.ts';
import { stateOf } from './states.ts';

/** What an agent says of itself when it registers. */
export interface RegistrationClaim {
  readonly clientId: string;
  readonly instanceId: string;
  readonly isPrimary: boolean;
  /** The epoch that it was promoted with, when it remembers one. */
  readonly epoch: number | null;
}

/** What the rows say about who registers. */
export interface RegistrationRows {
  readonly agent: { readonly id: string; readonly clientId: string; readonly epoch: number } | null;
  /** The row of this instance, whichever agent it belongs to. */
  readonly instance: { readonly agentId: string; readonly status: InstanceStatus } | null;
  readonly replica: { readonly agentId: string; readonly status: ReplicaStatus } | null;
  /** The instance that is PRIMARY now. */
  readonly primary: string | null;
}

/** What becomes of a registration; a rejected one is answered with `{config: {enabled: false}}`. */
export type Registration =
  | { readonly is: 'new-primary' | 'same-primary' | 'replica'; readonly reason: string }
  | { readonly is: 'rejected'; readonly guard: RegistrationGuard; readonly reason: string };

export type RegistrationGuard = 'OtherAgent' | 'Zombie' | 'Terminated' | 'NotPrimary' | 'VersionConflict';

/** Judges a registration; registering the same instance again is harmless. */
export function judgeRegistration(claim: RegistrationClaim, rows: RegistrationRows): Registration {
  const { agent, instance, replica, primary } = rows;
  const known = instance?.agentId ?? replica?.agentId;
  if (known !== undefined && known !== agent?.id)
    return rejected('OtherAgent', 'the instance belongs to another agent');
  if (instance !== null && stateOf(instance.status) === 'ZOMBIE')
    return rejected('Zombie', 'the instance was replaced, and is a zombie');
  if (instance !== null && stateOf(instance.status) === 'TERMINATED')
    return rejected('Terminated', 'the instance was terminated');
  if (replica !== null && (replica.status === 'failed' || replica.status === 'terminated'))
    return rejected('Terminated', `the replica is ${replica.status}`);
  if (primary === claim.instanceId) return judgePrimary(claim, agent?.epoch ?? 0);
  if (replica !== null || instance !== null)
    return { is: 'replica', reason: 'the instance is known as a replica' };
  if (!claim.isPrimary) return rejected('NotPrimary', 'the instance says that it is not primary');
  if (primary !== null)
    return rejected(
      'VersionConflict',
      `version conflict: ${primary} is PRIMARY with epoch ${agent?.epoch ?? 0}`,
    );
  if (claim.epoch !== null && claim.epoch !== (agent?.epoch ?? 0))
    return rejected('VersionConflict', `version conflict: the epoch is ${agent?.epoch ?? 0}`);
  return { is: 'new-primary', reason: 'the agent has no PRIMARY yet' };
}

function judgePrimary({ epoch }: RegistrationClaim, current: number): Registration {
  return epoch !== null && epoch > current
    ? rejected('VersionConflict', `version conflict: the epoch is ${current}`)
    : { is: 'same-primary', reason: 'the instance is PRIMARY already' };
}

const rejected = (guard: RegistrationGuard, reason: string): Registration => ({
  is: 'rejected',
  guard,
  reason,
});
