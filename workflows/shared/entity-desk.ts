import { irreversibleSteps } from './approvals.ts';
import type { LifecycleTypes, Served } from './lifecycle.ts';
import type { Condition, EntityStatus, Hint, ResourceRef, Stop } from './messages.ts';
import type { Command, PlanEnvelope } from './plan.ts';
import type { EntityPort } from './port.ts';
import { retried, type Carried } from './memory.ts';

/** What the desk needs of the entity behind it. */
interface Behind {
  readonly carried: Carried;
  readonly phase: string;
  remember(change: Partial<Carried>): void;
}

/** Where an entity's messages arrive: it answers queries, judges updates and knows what wakes the loop. */
export class EntityDesk {
  plan: PlanEnvelope<Command> | null = null;
  conditions: readonly Condition[] = [];
  message = '';
  readonly #ref: ResourceRef;
  readonly #behind: Behind;
  #hinted = false;
  #asked = false;
  /** Of each kind, and of each uid, the newest that was heard of since the turn began: what came before, its observation has seen. */
  #newest = new Map<string, Hint>();
  #cancel: string | null = null;
  #served: Served | null = null;
  #waiting: EntityStatus['waiting'] = null;
  #operation: EntityStatus['operation'] = null;

  constructor(port: EntityPort<LifecycleTypes['activities']>, ref: ResourceRef, behind: Behind) {
    this.#ref = ref;
    this.#behind = behind;
    port.serve({
      hint: (hint) => this.#take(hint),
      status: () => this.#status(),
      plan: () => this.plan,
      approve: {
        refuse: (input) => this.#refuseApproval(input?.hash, input?.by),
        accept: ({ hash, by }) => {
          const steps = this.plan === null ? [] : irreversibleSteps(this.plan);
          this.#behind.remember({ approved: { hash, by, steps, ahead: this.#operation === null } });
          this.#wake();
          return `${this.plan?.operation ?? 'the plan'} is approved by ${by}`;
        },
      },
      pause: {
        refuse: (input) => (isText(input?.reason) ? null : 'say why: {"reason": "…"}'),
        accept: ({ reason }) => {
          this.#behind.remember({ paused: { reason } });
          this.#wake();
          return 'paused: a running operation holds at its next safe point';
        },
      },
      resume: {
        refuse: () => (this.#behind.carried.paused === null ? 'it is not paused' : null),
        accept: () => {
          this.#behind.remember({ paused: null });
          this.#wake();
          return 'resumed';
        },
      },
      cancelOperation: {
        refuse: (input) => {
          if (!isText(input?.reason)) return 'say why: {"reason": "…"}';
          return this.#operation === null ? 'no operation is running' : null;
        },
        accept: ({ reason }) => {
          this.#cancel = reason;
          return `${this.#operation?.name ?? 'the operation'} ends at its next safe point and undoes what it can`;
        },
      },
      retry: {
        refuse: () => {
          const { failed, declined } = this.#behind.carried;
          return failed === null && declined === null ? 'nothing has failed and nothing was cancelled' : null;
        },
        accept: () => {
          this.#behind.remember(retried(this.#behind.carried));
          this.#wake();
          return 'tried again now';
        },
      },
    });
  }

  /** Whether anything came in since the turn began. */
  get hinted(): boolean {
    return this.#hinted;
  }

  /** Whether a person asked for something since the turn began. */
  get asked(): boolean {
    return this.#asked;
  }

  /** Why a person wants the running operation to end, if so. */
  get cancelAsked(): string | null {
    return this.#cancel;
  }

  beginTurn(): void {
    this.#hinted = false;
    this.#asked = false;
    this.#newest.clear();
  }

  serve(served: Served): void {
    this.#served = served;
  }

  waits(waiting: EntityStatus['waiting']): void {
    this.#waiting = waiting;
  }

  operates(operation: EntityStatus['operation']): void {
    this.#operation = operation;
    this.#cancel = null;
  }

  /** Takes a cancellation up again that did not reach the operation for which it was meant. */
  cancel(reason: string): void {
    this.#cancel = reason;
  }

  /** Whether a person asked for something, or a newer wish than the served one came in. */
  woken(served: Served): boolean {
    return this.#asked || this.#newer(served) !== null;
  }

  /** Why the running operation should end early, if it should. */
  stopWanted(served: Served): Stop | null {
    if (this.#cancel !== null) return { why: 'cancelled', reason: this.#cancel };
    const newer = this.#newer(served);
    if (newer === null) return null;
    const what = newer.uid === served.uid ? `generation ${newer.generation}` : 'another resource';
    return { why: 'superseded', reason: `${what} is wanted now` };
  }

  #newer(served: Served): Hint | null {
    // The entity has one resource of its own, which another may replace; of wishes there may be several.
    const newest = this.#newest.get(served.kind === this.#served?.kind ? served.kind : served.uid);
    if (newest === undefined) return null;
    return newest.uid !== served.uid || newest.generation > served.generation ? newest : null;
  }

  /** Whatever came in wakes; only what names a resource can be newer than the one that is served. */
  #take(hint: Partial<Hint> | null | undefined): void {
    this.#hinted = true;
    const { kind, uid, generation } = hint ?? {};
    if (!isText(kind) || !isText(uid) || typeof generation !== 'number') return;
    const known = this.#newest.get(kind);
    if (known === undefined || known.uid !== uid || generation > known.generation)
      for (const key of [kind, uid]) this.#newest.set(key, { kind, uid, generation });
  }

  #wake(): void {
    this.#hinted = true;
    this.#asked = true;
  }

  #refuseApproval(hash: unknown, by: unknown): string | null {
    if (!isText(hash) || !isText(by))
      return 'say what and who: {"hash": "sha256:…", "by": "…", "reason": "…"}';
    if (this.plan === null || this.plan.steps.length === 0) return 'there is no plan to approve';
    if (this.plan.hash !== hash)
      return `the plan is another one now: ${this.plan.hash}; read it before you approve it`;
    return null;
  }

  #status(): EntityStatus {
    const { paused, last } = this.#behind.carried;
    return {
      resource: `${this.#ref.namespace}/${this.#ref.name}`,
      uid: this.#served?.uid ?? null,
      generation: this.#served?.generation ?? 0,
      phase: this.#behind.phase,
      message: this.message,
      conditions: this.conditions,
      paused,
      waiting: this.#waiting,
      operation: this.#operation,
      last,
    };
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';
