import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Info } from '@temporalio/activity';
import { expireAttempt, extendAttempt, repeatProgress } from '../activities/attempt.ts';
import { failure } from '../workflows/shared/failures.ts';

const TICK_MS = 200;
const FROZEN_MS = 1_000;

/** Notices that this process stood still: suspended, paged out, or starved of its processor. */
export interface FreezeWatch {
  /** The longest standstill that ended after the moment given. */
  longestSince(sinceMs: number): number;
  stop(): void;
}

/** Watches by a clock of its own. */
export function watchFreezes(): FreezeWatch {
  let lastTickMs = Date.now();
  let last = { endedAtMs: 0, lengthMs: 0 };
  const look = (): void => {
    const nowMs = Date.now();
    if (nowMs - lastTickMs > FROZEN_MS) last = { endedAtMs: nowMs, lengthMs: nowMs - lastTickMs };
    lastTickMs = nowMs;
  };
  const timer = setInterval(look, TICK_MS);
  timer.unref();
  return {
    longestSince(sinceMs) {
      look();
      return last.endedAtMs > sinceMs ? last.lengthMs : 0;
    },
    stop: () => clearInterval(timer),
  };
}

/** Why an attempt is too old to begin; null when it is not. The server has started another one by then, or soon will. */
export function judgeAge(
  info: Pick<Info, 'currentAttemptScheduledTimestampMs' | 'startToCloseTimeoutMs' | 'heartbeatTimeoutMs'>,
  nowMs: number,
  frozenMs: number,
): string | null {
  const ageMs = nowMs - info.currentAttemptScheduledTimestampMs;
  const limitMs = info.startToCloseTimeoutMs;
  if (limitMs > 0 && ageMs > limitMs)
    return `it was scheduled ${Math.round(ageMs / 1_000)} s ago and had ${Math.round(limitMs / 1_000)} s`;
  const beatMs = info.heartbeatTimeoutMs ?? 0;
  if (beatMs > 0 && frozenMs > beatMs)
    return `this worker stood still for ${Math.round(frozenMs / 1_000)} s since it was scheduled`;
  return null;
}

/**
 * Heartbeats for every activity, so that a lost worker is noticed and cancellations arrive, and ends attempts that the
 * server has given up: before they begin, and in the middle.
 */
export function createAttemptGuard(freezes: FreezeWatch): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const frozenMs = freezes.longestSince(info.currentAttemptScheduledTimestampMs);
        const tooOld = judgeAge(info, Date.now(), frozenMs);
        if (tooOld !== null) throw failure('TimedOut', `this attempt comes too late: ${tooOld}`);
        if (info.isLocal) return next(input);
        const stop = keepAlive(info);
        try {
          return await next(input);
        } finally {
          stop();
        }
      },
    },
  });
}

function keepAlive(info: Info): () => void {
  const beatMs = info.heartbeatTimeoutMs ?? 0;
  const endMs = info.startToCloseTimeoutMs > 0 ? Date.now() + info.startToCloseTimeoutMs : Infinity;
  let lastBeatMs = Date.now();
  const extend = (): void => extendAttempt(Math.min(endMs, beatMs > 0 ? lastBeatMs + beatMs : Infinity));
  extend();
  const timer = setInterval(
    () => {
      const nowMs = Date.now();
      if (nowMs > endMs || (beatMs > 0 && nowMs - lastBeatMs > beatMs)) {
        expireAttempt();
        return;
      }
      if (beatMs > 0) repeatProgress();
      lastBeatMs = nowMs;
      extend();
    },
    beatMs > 0 ? Math.min(beatMs / 4, 1_000) : 1_000,
  );
  return () => clearInterval(timer);
}
