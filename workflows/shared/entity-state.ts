import type { Failure } from './failure-codes.ts';
import { failure } from './failures.ts';
import type { Lifecycle, LifecycleTypes, Served, View } from './lifecycle.ts';
import { freshlyCarried, remember, rememberFailure, type Carried } from './memory.ts';
import type { PlanEnvelope } from './plan.ts';
import { transition } from './transitions.ts';

/** What one turn has seen, and what it would do about it. */
export interface Seen<T extends LifecycleTypes> {
  readonly observed: T['observed'];
  readonly served: Served;
  readonly plan: PlanEnvelope<T['command']>;
}

/** What a status is about. */
interface Said {
  readonly message: string;
  readonly reason: string;
  readonly blocked?: string | null;
  readonly failure?: Failure | null;
  readonly past?: true;
}

/** What an entity remembers, and the phase, which moves along the table only. */
export class EntityState<T extends LifecycleTypes> {
  readonly #lifecycle: Lifecycle<T>;
  #carried: Carried;

  constructor(lifecycle: Lifecycle<T>, carried: Carried = freshlyCarried) {
    this.#lifecycle = lifecycle;
    this.#carried = carried;
  }

  get carried(): Carried {
    return this.#carried;
  }

  get phase(): T['phase'] {
    const { table, initialPhase } = this.#lifecycle;
    return table.phases.find((phase) => phase === this.#carried.phase) ?? initialPhase;
  }

  remember(change: Partial<Carried>): void {
    this.#carried = { ...this.#carried, ...change };
  }

  /** Takes the resource for the one that is remembered, or for one of which only its own status tells. */
  recognise(served: Served): void {
    const told = this.#carried.phase === null || this.#carried.uid !== served.uid;
    this.#carried = remember(this.#carried, served);
    // What the status tells may be the middle of an operation that nobody carries on; what is no such phase has no row.
    if (told && served.phase !== null) this.#go(this.#lifecycle.events.recovered);
  }

  /** Goes through events in order; a pair that the table does not have is the lifecycle's mistake, and told. */
  settle(events: readonly T['event'][]): void {
    for (const event of events) {
      const refusal = this.#go(event);
      if (refusal !== null) throw failure('PhaseRefused', refusal);
    }
  }

  /** Remembers a failure; one that waits for a person enters the failed phase. Gives what to say of it. */
  fail(served: Served, failed: Failure, nowMs: number, found: boolean): string {
    const next = { ...rememberFailure(this.#carried, served, failed, nowMs), found };
    const message = `${failed.code}: ${failed.message}`;
    const entered = this.#carried.failed?.entered ?? false;
    this.remember({ failed: { ...next, entered } });
    if (next.after.next !== 'await-change' || entered) return message;
    const refusal = this.#go(this.#lifecycle.events.failed);
    this.remember({ failed: { ...next, entered: refusal === null } });
    return refusal === null ? message : `${message} (${refusal})`;
  }

  /** Leaves what a failure left behind, when it no longer stands in the way; the failed phase is left by the table only. */
  recover(): void {
    const { failed } = this.#carried;
    if (failed === null) return;
    const refusal = this.#go(this.#lifecycle.events.recovered);
    if (refusal !== null && failed.entered) throw failure('PhaseRefused', refusal);
    this.remember({ failed: { ...failed, entered: false } });
  }

  view({ observed, served }: Seen<T>, said: Said): View<T> {
    return {
      observed,
      served,
      phase: this.phase,
      message: said.message,
      reason: said.reason,
      operation: null,
      blocked: said.blocked ?? null,
      failure: said.failure ?? null,
      paused: this.#carried.paused !== null,
      carriedOut: this.#carried.carriedOut,
      last: this.#carried.last,
      ...(said.past === undefined ? {} : { past: said.past }),
    };
  }

  #go(event: T['event']): string | null {
    const outcome = transition(this.#lifecycle.table, this.phase, event);
    if (!outcome.moved) return outcome.refusal;
    this.remember({ phase: outcome.to });
    return null;
  }
}
