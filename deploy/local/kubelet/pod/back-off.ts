import type { ContainerRecord, Termination } from './record.ts';

/** How long a node waits before it starts a container again. */
export interface BackOff {
  readonly baseMs: number;
  readonly maxMs: number;
}

/** When a container that ended may start again: the first time at once, then later and later. */
export function selectRestartTime(record: ContainerRecord, ended: Termination, backOff: BackOff): number {
  if (record.backOffMs === undefined || isForgiven(ended, backOff)) return ended.finishedAtMs;
  return ended.finishedAtMs + record.backOffMs;
}

/** The delay that the restart after this one has to wait; a long healthy run starts over. */
export function selectNextDelay(record: ContainerRecord, ended: Termination, backOff: BackOff): number {
  if (record.backOffMs === undefined || isForgiven(ended, backOff)) return backOff.baseMs;
  return Math.min(record.backOffMs * 2, backOff.maxMs);
}

function isForgiven(ended: Termination, backOff: BackOff): boolean {
  return ended.finishedAtMs - ended.startedAtMs >= 2 * backOff.maxMs;
}
