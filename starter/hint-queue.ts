import { backOffMs } from './back-off.ts';
import type { BackOff } from './back-off.ts';
import { HintSchedule } from './hint-schedule.ts';
import type { HintPace, Offer } from './hint-schedule.ts';

/** Why a hint did not arrive: nobody could get one through now, or this one was refused. */
export type DeliveryFailure = 'away' | 'refused';

export interface HintQueueOptions<T> {
  readonly deliver: (key: string, payload: T) => Promise<void>;
  readonly classify: (error: unknown) => DeliveryFailure;
  readonly failed: (key: string, payload: T, failure: DeliveryFailure, error: unknown) => void;
  /** Asked before every send. */
  readonly open: () => boolean;
  readonly pace?: HintPace;
  readonly backOff?: BackOff;
  readonly concurrency?: number;
}

/** What was refused once is most likely refused again: it is tried less often. */
const REFUSED: BackOff = { firstMs: 500, limitMs: 30_000 };

/** How long to wait before asking again whether the queue is open. */
const CLOSED_MS = 500;

/**
 * Delivers hints by the schedule. When Temporal is away, one hint at a time is tried, less and less often, and all others
 * wait, one for each slot: memory is bounded and nothing is lost.
 */
export class HintQueue<T> {
  readonly #options: HintQueueOptions<T>;
  readonly #schedule: HintSchedule<T>;
  readonly #backOff: BackOff;
  readonly #concurrency: number;
  #flying = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #failuresInARow = 0;
  #awaySinceMs: number | null = null;
  #closedUntilMs = 0;
  #stopped = false;

  constructor(options: HintQueueOptions<T>) {
    this.#options = options;
    this.#schedule = new HintSchedule<T>(options.pace);
    this.#backOff = options.backOff ?? { firstMs: 250, limitMs: 10_000 };
    this.#concurrency = options.concurrency ?? 20;
  }

  get pending(): number {
    return this.#schedule.pending;
  }

  /** Whether the last attempts showed Temporal to be away. */
  get away(): boolean {
    return this.#failuresInARow > 0;
  }

  /** For how long it has been away. */
  get awayMs(): number {
    return this.#awaySinceMs === null ? 0 : Date.now() - this.#awaySinceMs;
  }

  /** What is urgent and has not arrived yet. */
  get urgent(): readonly T[] {
    return this.#schedule.urgent;
  }

  offer(key: string, offer: Offer<T>): void {
    this.#schedule.offer(key, offer);
    this.#pump();
  }

  setOperating(key: string, operating: boolean): void {
    this.#schedule.setOperating(key, operating);
    if (!operating) this.#pump();
  }

  /** Drops what is pending, when another replica leads. */
  clear(): void {
    this.#schedule.clear();
  }

  /** Sends nothing more, and waits for what is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await Promise.all(this.#flying);
  }

  #pump(): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    const nowMs = Date.now();
    if (!this.#options.open()) this.#closedUntilMs = Math.max(this.#closedUntilMs, nowMs + CLOSED_MS);
    if (nowMs >= this.#closedUntilMs) {
      const free = (this.away ? 1 : this.#concurrency) - this.#flying.size;
      for (const { key, offer } of this.#schedule.take(nowMs, free)) this.#launch(key, offer.payload);
    }
    this.#schedule.forgetIdle(nowMs);
    this.#wakeLater(nowMs);
  }

  #wakeLater(nowMs: number): void {
    const dueMs = this.#schedule.nextDueMs();
    // With no room left, the end of a delivery pumps again.
    if (dueMs === null || this.#flying.size >= (this.away ? 1 : this.#concurrency)) return;
    const wakeMs = Math.max(dueMs, this.#closedUntilMs, nowMs + 1);
    this.#timer = setTimeout(() => this.#pump(), wakeMs - nowMs);
  }

  #launch(key: string, payload: T): void {
    const flight = this.#deliver(key, payload).finally(() => {
      this.#flying.delete(flight);
      this.#pump();
    });
    this.#flying.add(flight);
  }

  async #deliver(key: string, payload: T): Promise<void> {
    try {
      await this.#options.deliver(key, payload);
      this.#failuresInARow = 0;
      this.#awaySinceMs = null;
      this.#schedule.sent(key, Date.now());
    } catch (error) {
      const failure = this.#options.classify(error);
      if (failure === 'away') {
        this.#failuresInARow += 1;
        this.#awaySinceMs ??= Date.now();
        this.#closedUntilMs = Date.now() + backOffMs(this.#backOff, this.#failuresInARow, Math.random());
        this.#schedule.failed(key, () => this.#closedUntilMs);
      } else {
        this.#schedule.failed(key, (failures) => Date.now() + backOffMs(REFUSED, failures, Math.random()));
      }
      this.#options.failed(key, payload, failure, error);
    }
  }
}
