/** A lease as the API server holds it, reduced to what decides. */
export interface LeaseRecord {
  readonly holder: string;
  readonly durationMs: number;
  readonly renewTime: string;
  readonly transitions: number;
  readonly resourceVersion: string;
}

/** What a replica remembers of the lease: the record, and when, by its own clock, it was last seen to change. */
export interface LeaseMemory {
  readonly record: LeaseRecord;
  readonly changedAtMs: number;
}

export type LeaseDecision = 'create' | 'renew' | 'take' | 'wait';

/** Notes a record; only a change restarts its time, so that clocks of other machines do not matter. */
export const remember = (memory: LeaseMemory | null, record: LeaseRecord, nowMs: number): LeaseMemory =>
  memory !== null &&
  memory.record.renewTime === record.renewTime &&
  memory.record.holder === record.holder &&
  memory.record.resourceVersion === record.resourceVersion
    ? memory
    : { record, changedAtMs: nowMs };

/** What to do about the lease now. */
export function decideLease(memory: LeaseMemory | null, me: string, nowMs: number): LeaseDecision {
  if (memory === null) return 'create';
  const { record, changedAtMs } = memory;
  if (record.holder === me) return 'renew';
  if (record.holder === '') return 'take';
  return nowMs - changedAtMs >= record.durationMs ? 'take' : 'wait';
}

/** A leader leads only as long as its last renewal is younger than the deadline, well before others may take over. */
export const leads = (renewedAtMs: number | null, renewDeadlineMs: number, nowMs: number): boolean =>
  renewedAtMs !== null && nowMs - renewedAtMs < renewDeadlineMs;
