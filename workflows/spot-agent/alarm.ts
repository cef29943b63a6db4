import { failureOf } from '../shared/failures.ts';
import type { Port } from '../shared/port.ts';

/** Wakes the entity at the earliest moment at which something runs out, which no hint would tell. */
export class Alarm {
  readonly #port: Port<object>;
  readonly #ring: () => void;
  #atMs: number | null = null;

  constructor(port: Port<object>, ring: () => void) {
    this.#port = port;
    this.#ring = ring;
  }

  /** Sets the moment; the one before is forgotten. */
  set(atMs: number | null): void {
    this.#atMs = atMs;
  }

  /** Runs beside the entity, as long as that does. */
  async run(): Promise<void> {
    try {
      for (;;) await this.#wait();
    } catch (error) {
      // The workflow is cancelled, and the alarm ends with it.
      if (failureOf(error)?.code !== 'Cancelled') throw error;
    }
  }

  async #wait(): Promise<void> {
    await this.#port.until(() => this.#atMs !== null, { summary: 'no alarm is set' });
    const atMs = this.#atMs ?? 0;
    const changed = await this.#port.until(() => this.#atMs !== atMs, {
      summary: 'something runs out',
      timeoutMs: Math.max(atMs - this.#port.nowMs(), 1),
    });
    if (changed) return;
    this.#atMs = null;
    this.#ring();
  }
}
