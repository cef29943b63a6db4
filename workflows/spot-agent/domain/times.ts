/** The specification's times, and those that AWS gives. */
export const TIMES = {
  /** Without a heartbeat for this long a PRIMARY is suspected, and EC2 is asked. */
  heartbeatLostMs: 120_000,
  /** A replica whose last sync is older is not ready. */
  syncMs: 60_000,
  /** From a termination notice that names no time. */
  noticeMs: 120_000,
  /** An emergency replica must be launched by then. */
  emergencyLaunchMs: 60_000,
  /** A rebalance recommendation that no interruption follows is over after this. */
  rebalanceMs: 30 * 60_000,
  /** EC2 may not know an instance that it has just launched. */
  unseenMs: 5 * 60_000,
  /** From launch to ready, as long as nothing else is known of a pool. */
  bootMs: 75_000,
  /** What a promotion itself takes, with room. */
  promotionMs: 10_000,
  /** A pool that had no capacity is not tried again before. */
  capacityMs: 3 * 60_000,
  /** A pool that was interrupted is less liked for so long. */
  interruptionMs: 60 * 60_000,
  hourMs: 3_600_000,
  dayMs: 86_400_000,
} as const;
