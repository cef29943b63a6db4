import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  RetryState,
  TimeoutFailure,
  TimeoutType,
} from '@temporalio/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Agenda } from './agenda.ts';
import { crossing } from './crossing.ts';
import type { Ended } from './history.ts';
import type { Random } from './random.ts';

/** How often what goes wrong; 0 is never. */
export interface Faults {
  /** An attempt does its work, but its answer is lost, and it is done again. */
  readonly lostAnswer: number;
  /** An attempt is taken for dead and repeated, and does its work only later, beside its successor. */
  readonly frozen: number;
  /** An activity is slow to start or to answer. */
  readonly slow: number;
}

/** One attempt, as the activity sees it. */
export interface SimulatedAttempt {
  readonly number: number;
  readonly workflowId: string;
  nowMs(): number;
  sleep(ms: number): Promise<void>;
  rest(ms: number): Promise<void>;
}

export type ActivityImplementation = (...args: readonly unknown[]) => Promise<unknown>;

/** What a scheduled activity needs of the engine. */
export interface Surroundings {
  readonly agenda: Agenda;
  readonly random: Random;
  readonly faults: Faults;
  /** How long the worker is still away. */
  awayMs(): number;
  implementation(): ActivityImplementation | undefined;
  note(text: string): void;
  ended(ended: Ended): void;
}

const HEARTBEAT_MS = 2_000;
const RETRY_MS = { first: 200, last: 5_000 } as const;
const DEADLINE_MS = { short: 300_000, long: 24 * 3_600_000 } as const;

const current = new AsyncLocalStorage<SimulatedAttempt>();

/** The attempt that the calling activity code belongs to. */
export function currentAttempt(): SimulatedAttempt {
  const attempt = current.getStore();
  if (attempt === undefined) throw new Error('this code does not run inside a simulated activity');
  return attempt;
}

/** One scheduled activity: its attempts, until one of them ends it. */
export class ScheduledActivity {
  readonly #at: Surroundings;
  readonly #workflowId: string;
  readonly #name: string;
  readonly #args: readonly unknown[];
  readonly #deadlineMs: number;
  #number = 0;
  #cancelRequested = false;
  #ended = false;
  #lastError: Error | null = null;
  /** Wakes whoever sleeps in the attempt that counts. */
  #interrupt: (() => void) | null = null;
  /** Idle before an attempt and in a back-off; lost while the server still waits for one that nobody runs. */
  #state: 'idle' | 'running' | 'lost' = 'idle';

  constructor(
    workflowId: string,
    command: { readonly name: string; readonly args: readonly unknown[]; readonly long: boolean },
    at: Surroundings,
  ) {
    this.#workflowId = workflowId;
    this.#name = command.name;
    this.#args = command.args;
    this.#at = at;
    this.#deadlineMs = at.agenda.nowMs + (command.long ? DEADLINE_MS.long : DEADLINE_MS.short);
    this.#attemptIn(this.#latencyMs());
  }

  /** Asks for its end: a running attempt hears of it by its next heartbeat, and is waited for. */
  cancel(): void {
    this.#cancelRequested = true;
    if (this.#state === 'idle')
      this.#end({ error: this.#failure(new CancelledFailure('Activity cancelled')) });
    else if (this.#state === 'running')
      this.#at.agenda.in(this.#at.random.between(1, 500), () => this.#interrupt?.());
  }

  /** The worker died: the attempt that runs is never heard of again, and is repeated after its heartbeat timeout. */
  crash(): void {
    if (this.#state === 'running') this.#lose('the worker died');
  }

  /** Its workflow is no more: whatever it answers interests nobody. */
  abandon(): void {
    this.#ended = true;
  }

  #attemptIn(delayMs: number): void {
    this.#at.agenda.in(delayMs, () => {
      if (this.#ended) return;
      const awayMs = this.#at.awayMs();
      if (awayMs > 0) this.#attemptIn(awayMs + this.#latencyMs());
      else if (this.#at.agenda.nowMs >= this.#deadlineMs) this.#expire();
      else this.#attempt();
    });
  }

  #attempt(): void {
    this.#number += 1;
    const number = this.#number;
    this.#state = 'running';
    this.#at.note(`${this.#name} attempt ${number} of ${this.#workflowId}`);
    if (this.#at.random.chance(this.#at.faults.frozen)) {
      this.#lose('it is frozen');
      this.#at.agenda.in(this.#at.random.between(100, 10_000), () => void this.#work(number));
    } else {
      void this.#work(number);
    }
  }

  async #work(number: number): Promise<void> {
    const implementation = this.#at.implementation();
    const attempt = this.#context(number);
    let ended: Ended;
    try {
      if (implementation === undefined) throw new Error(`there is no activity ${this.#name}`);
      const value = await current.run(attempt, () => implementation(...this.#args));
      ended = { value: crossing(value, `the result of ${this.#name}`) };
    } catch (error) {
      ended = { error: error instanceof Error ? error : new Error(String(error)) };
    }
    const lost = this.#at.random.chance(this.#at.faults.lostAnswer);
    this.#at.agenda.in(this.#latencyMs(), () => {
      if (!this.#counts(number)) return;
      if (lost) this.#lose('its answer is lost');
      else this.#answered(ended);
    });
  }

  #context(number: number): SimulatedAttempt {
    return {
      number,
      workflowId: this.#workflowId,
      nowMs: () => this.#at.agenda.nowMs,
      rest: (ms) => this.#rest(number, ms),
      sleep: (ms) =>
        new Promise((resolve, reject) => {
          void this.#rest(number, ms).then(resolve);
          if (this.#counts(number)) {
            this.#interrupt = () => {
              if (this.#counts(number)) reject(new CancelledFailure('CANCELLED'));
            };
          }
        }),
    };
  }

  #rest(number: number, ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#at.agenda.in(ms, () => {
        // A dead attempt sleeps for ever.
        if (this.#counts(number)) resolve();
      });
    });
  }

  #counts(number: number): boolean {
    return !this.#ended && this.#state === 'running' && this.#number === number;
  }

  #answered(ended: Ended): void {
    this.#state = 'idle';
    this.#interrupt = null;
    if ('value' in ended) return this.#end(ended);
    const { error } = ended;
    if (error instanceof CancelledFailure && this.#cancelRequested) {
      return this.#end({ error: this.#failure(error) });
    }
    const cause =
      error instanceof ApplicationFailure ? error : ApplicationFailure.retryable(error.message, error.name);
    this.#lastError = cause;
    if (cause.nonRetryable === true || this.#cancelRequested)
      return this.#end({ error: this.#failure(cause) });
    const backOffMs = Math.min(RETRY_MS.first * 2 ** Math.min(this.#number - 1, 10), RETRY_MS.last);
    this.#attemptIn(typeof cause.nextRetryDelay === 'number' ? cause.nextRetryDelay : backOffMs);
  }

  /** The server hears nothing of the attempt any more and, after the heartbeat timeout, gives the next. */
  #lose(why: string): void {
    this.#state = 'lost';
    this.#interrupt = null;
    const number = this.#number;
    this.#at.note(`${this.#name} attempt ${number} of ${this.#workflowId} is lost: ${why}`);
    this.#at.agenda.in(HEARTBEAT_MS, () => {
      if (this.#ended || this.#number !== number) return;
      if (this.#cancelRequested) {
        this.#end({
          error: this.#failure(new TimeoutFailure('Activity timed out', null, TimeoutType.HEARTBEAT)),
        });
      } else {
        this.#state = 'idle';
        this.#attemptIn(RETRY_MS.first);
      }
    });
  }

  #expire(): void {
    const timeout = new TimeoutFailure('Activity timed out', null, TimeoutType.SCHEDULE_TO_CLOSE);
    // As the server does: what the last attempt died of is the cause.
    if (this.#lastError !== null) Object.defineProperty(timeout, 'cause', { value: this.#lastError });
    this.#end({ error: this.#failure(timeout) });
  }

  #end(ended: Ended): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#at.ended(ended);
  }

  #failure(cause: Error): ActivityFailure {
    const { NON_RETRYABLE_FAILURE } = RetryState;
    return new ActivityFailure(
      'Activity task failed',
      this.#name,
      '',
      NON_RETRYABLE_FAILURE,
      undefined,
      cause,
    );
  }

  #latencyMs(): number {
    const { random, faults } = this.#at;
    return random.chance(faults.slow) ? random.between(100, 20_000) : random.between(1, 20);
  }
}
