/** How many requests a client may make: so many a second on average, and so many at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Counts requests by client. Each process counts for itself: the limit protects it, and is no quota. */
export class RateLimit {
  readonly #rate: Rate;
  readonly #left = new Map<string, { tokens: number; atMs: number }>();

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /** In how many seconds the client may come again; 0 when this request is allowed. */
  take(client: string, nowMs: number): number {
    const { perSecond, burst } = this.#rate;
    const before = this.#left.get(client) ?? { tokens: burst, atMs: nowMs };
    const tokens = Math.min(burst, before.tokens + ((nowMs - before.atMs) / 1000) * perSecond);
    if (tokens < 1) return Math.ceil((1 - tokens) / perSecond);
    this.#left.set(client, { tokens: tokens - 1, atMs: nowMs });
    return 0;
  }
}
