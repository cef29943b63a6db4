import { RateLimit, type Rate } from './rate-limit.ts';
import { RecentMap } from './recent-map.ts';

/** How many tokens are remembered: more than a process serves, and little memory. */
const REMEMBERED = 10_000;

/**
 * Counts the requests of everybody who has not been recognised yet, by address, so that guesses do not reach the
 * database. A token that was recognised is no stranger's: bad neighbours behind the same address keep nobody out.
 */
export class Strangers {
  readonly #limit: RateLimit;
  readonly #recognised = new RecentMap<string, true>(REMEMBERED);

  constructor(rate: Rate) {
    this.#limit = new RateLimit(rate);
  }

  /** In how many seconds whoever shows this token may come again; 0 when the request may be looked at. */
  take(address: string, tokenHash: string | null, nowMs: number): number {
    if (tokenHash !== null && this.#recognised.has(tokenHash)) return 0;
    return this.#limit.take(address, nowMs);
  }

  /** What the database said of a token. One that is not valid any more is a stranger's again. */
  judged(tokenHash: string, isValid: boolean): void {
    if (isValid) this.#recognised.set(tokenHash, true);
    else this.#recognised.delete(tokenHash);
  }
}
