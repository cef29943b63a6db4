import { RecentMap } from './recent-map.ts';

/** How many requests a client may make: so many a second on average, and so many at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** How many callers are counted at once: of those that did not come for longest, nothing is remembered. */
const COUNTED = 10_000;

/** Counts requests by client or address. Each process counts for itself: the limit protects it, and is no quota. */
export class RateLimit {
  readonly #rate: Rate;
  readonly #left = new RecentMap<string, { tokens: number; atMs: number }>(COUNTED);

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /** In how many seconds the caller may come again; 0 when this request is allowed. */
  take(caller: string, nowMs: number): number {
    const { perSecond, burst } = this.#rate;
    const before = this.#left.get(caller) ?? { tokens: burst, atMs: nowMs };
    const tokens = Math.min(burst, before.tokens + ((nowMs - before.atMs) / 1000) * perSecond);
    if (tokens < 1) return Math.ceil((1 - tokens) / perSecond);
    this.#left.set(caller, { tokens: tokens - 1, atMs: nowMs });
    return 0;
  }
}
