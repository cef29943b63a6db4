/** How often a workflow may be hinted. */
export interface HintPace {
  /** At least this long between two hints of one workflow. */
  readonly gapMs: number;
  /** And this long, while an operation runs, for all that is not urgent. */
  readonly calmGapMs: number;
}

export const HINT_PACE: HintPace = { gapMs: 1_000, calmGapMs: 30_000 };

/** Something to tell a workflow. A later offer for the same slot replaces an earlier one. */
export interface Offer<T> {
  readonly slot: string;
  /** A new object, a new generation or a deletion: never held back by a running operation. */
  readonly urgent: boolean;
  readonly payload: T;
}

interface Line<T> {
  pending: readonly Offer<T>[];
  flying: readonly Offer<T>[];
  lastSentAtMs: number;
  notBeforeMs: number;
  failures: number;
}

/**
 * Decides which workflow is hinted when; it has no clock of its own. Every hint makes the entity observe everything, so
 * one send settles all that is not urgent; each urgent offer is sent itself, because it may supersede an operation.
 */
export class HintSchedule<T> {
  readonly #pace: HintPace;
  readonly #lines = new Map<string, Line<T>>();
  readonly #operating = new Set<string>();

  constructor(pace: HintPace = HINT_PACE) {
    this.#pace = pace;
  }

  /** Remembers an offer; memory is bounded by one offer for each slot. */
  offer(key: string, offer: Offer<T>): void {
    const line = this.#lines.get(key) ?? emptyLine<T>();
    line.pending = merge(line.pending, offer);
    this.#lines.set(key, line);
  }

  /** Notes whether an operation runs; when it ends, what was held for it becomes due. */
  setOperating(key: string, operating: boolean): void {
    if (operating) this.#operating.add(key);
    else this.#operating.delete(key);
  }

  /** Takes up to `limit` offers that are due, the longest due first; each counts as under way until `sent` or `failed`. */
  take(nowMs: number, limit: number): readonly { readonly key: string; readonly offer: Offer<T> }[] {
    return [...this.#lines]
      .map(([key, line]) => ({ key, line, dueMs: this.#dueMs(key, line) }))
      .filter(({ dueMs }) => dueMs !== null && dueMs <= nowMs)
      .sort((a, b) => (a.dueMs ?? 0) - (b.dueMs ?? 0))
      .slice(0, Math.max(limit, 0))
      .flatMap(({ key, line }) => takeFrom(line).map((offer) => ({ key, offer })));
  }

  /** The offer that was taken has arrived. */
  sent(key: string, nowMs: number): void {
    const line = this.#lines.get(key);
    if (line === undefined) return;
    line.flying = [];
    line.lastSentAtMs = nowMs;
    line.failures = 0;
  }

  /** The offer that was taken has not arrived: it is due again, with all that it settled, unless something newer replaced it. */
  failed(key: string, retryAtMs: (failures: number) => number): void {
    const line = this.#lines.get(key);
    if (line === undefined) return;
    line.pending = line.pending.reduce(merge<T>, line.flying);
    line.flying = [];
    line.failures += 1;
    line.notBeforeMs = retryAtMs(line.failures);
  }

  /** When `take` should be asked next, or null when nothing is pending. */
  nextDueMs(): number | null {
    let nextMs: number | null = null;
    for (const [key, line] of this.#lines) {
      const dueMs = this.#dueMs(key, line);
      if (dueMs !== null && (nextMs === null || dueMs < nextMs)) nextMs = dueMs;
    }
    return nextMs;
  }

  /** Forgets lines that no longer hold anything back. */
  forgetIdle(nowMs: number): void {
    for (const [key, line] of this.#lines)
      if (isEmpty(line) && nowMs - line.lastSentAtMs > this.#pace.calmGapMs) this.#lines.delete(key);
  }

  /** Drops everything that is pending: another replica leads now, and it starts with a full resync. */
  clear(): void {
    for (const [key, line] of this.#lines) {
      line.pending = [];
      if (isEmpty(line)) this.#lines.delete(key);
    }
  }

  /** What is urgent and has not arrived yet. */
  get urgent(): readonly T[] {
    const waiting = [...this.#lines.values()].flatMap((line) => [...line.flying, ...line.pending]);
    return waiting.filter((offer) => offer.urgent).map((offer) => offer.payload);
  }

  get pending(): number {
    let count = 0;
    for (const line of this.#lines.values()) count += line.pending.length + line.flying.length;
    return count;
  }

  #dueMs(key: string, line: Line<T>): number | null {
    if (line.flying.length > 0 || line.pending.length === 0) return null;
    const calm = this.#operating.has(key) && line.pending.every((one) => !one.urgent);
    const gapMs = calm ? this.#pace.calmGapMs : this.#pace.gapMs;
    return Math.max(line.lastSentAtMs + gapMs, line.notBeforeMs);
  }
}

/** Finite, so that differences of times stay numbers. */
const LONG_AGO = -1e15;

const emptyLine = <T>(): Line<T> => ({
  pending: [],
  flying: [],
  lastSentAtMs: LONG_AGO,
  notBeforeMs: LONG_AGO,
  failures: 0,
});

const isEmpty = <T>(line: Line<T>): boolean => line.pending.length === 0 && line.flying.length === 0;

/** Takes what is most urgent, and with it all that this one send settles. */
function takeFrom<T>(line: Line<T>): readonly Offer<T>[] {
  const offer = line.pending.find((one) => one.urgent) ?? line.pending[0];
  if (offer === undefined) return [];
  const left = line.pending.filter((one) => one !== offer && one.urgent);
  line.flying = line.pending.filter((one) => !left.includes(one));
  line.pending = left;
  return [offer];
}

/** The newest of a slot wins, but what was urgent about an earlier one stays urgent. */
function merge<T>(pending: readonly Offer<T>[], offer: Offer<T>): readonly Offer<T>[] {
  const earlier = pending.find((one) => one.slot === offer.slot);
  const merged = earlier?.urgent === true ? { ...offer, urgent: true } : offer;
  return [...pending.filter((one) => one !== earlier), merged];
}
