import type { SpotInstance, SpotObservation } from './observation.ts';
import { fateOf } from './readiness.ts';
import { TIMES } from './times.ts';

/** What becomes of an instance that was replaced. */
export type Retirement =
  | { readonly do: 'keep'; readonly untilMs: number | null; readonly reason: string }
  | { readonly do: 'terminate'; readonly event: ClosingEvent; readonly reason: string }
  | { readonly do: 'close'; readonly event: ClosingEvent; readonly reason: string };

export type ClosingEvent = 'CleanedUp' | 'RetentionExpired' | 'TerminationConfirmed';

/** AWS is given this much longer than it announced before a reclaimed instance is ended by us. */
const RECLAIM_MS = 10 * 60_000;
/** How often it is looked whether AWS has. */
const LOOK_MS = 30_000;

/** Judges one zombie: what EC2 has ended is closed, what AWS takes back is left to AWS, the rest goes by its time. */
export function planRetirement(observed: SpotObservation, zombie: SpotInstance): Retirement {
  const { agent, nowMs } = observed;
  const fate = fateOf(observed, zombie);
  if (fate === 'gone')
    return { do: 'close', event: 'TerminationConfirmed', reason: 'EC2 says that it is terminated' };
  if (fate === 'unknown')
    return { do: 'keep', untilMs: nowMs + 60_000, reason: 'EC2 could not be asked after it' };
  if (observed.cloud?.instances.find((one) => one.id === zombie.id)?.ours === false)
    return { do: 'keep', untilMs: null, reason: 'its tags do not say that it is this agent’s' };
  if (zombie.status === 'terminating')
    return { do: 'terminate', event: 'CleanedUp', reason: 'its termination was begun' };
  if (zombie.interruptedAtMs !== null && nowMs < zombie.interruptedAtMs + RECLAIM_MS) {
    const untilMs = Math.min(zombie.interruptedAtMs + RECLAIM_MS, nowMs + LOOK_MS);
    return { do: 'keep', untilMs, reason: 'AWS takes it back itself, and does not bill its first hour then' };
  }
  const retiredAtMs = zombie.retiredAtMs ?? zombie.createdAtMs;
  if (agent.autoTerminate) {
    const untilMs = retiredAtMs + agent.terminateWaitSeconds * 1000;
    return nowMs < untilMs
      ? { do: 'keep', untilMs, reason: `terminate_wait_seconds are ${agent.terminateWaitSeconds}` }
      : {
          do: 'terminate',
          event: 'TerminationConfirmed',
          reason: 'its wait is over and auto_terminate is on',
        };
  }
  const untilMs = retiredAtMs + agent.retentionDays * TIMES.dayMs;
  return nowMs < untilMs
    ? { do: 'keep', untilMs, reason: `auto_terminate is off: kept for ${agent.retentionDays} days` }
    : {
        do: 'terminate',
        event: 'RetentionExpired',
        reason: `${agent.retentionDays} days of retention are over`,
      };
}
