/** With these an attempt that died is taken up within two seconds. */
export const TUNING = { heartbeatTimeoutMs: 1_500, retryInitialMs: 100, retryMaximumMs: 1_000 } as const;
