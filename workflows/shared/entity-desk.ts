import { irreversibleSteps } from './approvals.ts';
import type { LifecycleTypes, Served } from './lifecycle.ts';
import type { Condition, EntityStatus, Hint, ResourceRef, Stop } from './messages.ts';
import type { Command, PlanEnvelope } from './plan.ts';
import type { EntityPort } from './port.ts';
import type { Carried } from './turn.ts';

/** What the desk needs of the entity behind it. */
interface Behind {
  carried(): Carried;
  remember(change: Partial<Carried>): void;
  phase(): string;
}

/** Where an entity's messages arrive: it answers queries, judges updates and knows what wakes the loop. */
export class EntityDesk {
  plan: PlanEnvelope<Command> | null = null;
  conditions: readonly Condition[] = [];
  message = '';
  readonly #kind: string;
  readonly #ref: ResourceRef;
  readonly #behind: Behind;
  #hinted = false;
  #asked = false;
  #newest: Hint | null = null;
  #cancel: string | null = null;
  #served: Served | null = null;
  #waiting: EntityStatus['waiting'] = null;
  #operation: EntityStatus['operation'] = null;

  constructor(
    port: EntityPort<LifecycleTypes['activities']>,
    kind: string,
    ref: ResourceRef,
    behind: Behind,
  ) {
    this.#kind = kind;
    this.#ref = ref;
    this.#behind = behind;
    port.serve({
      hint: (hint) => this.#take(hint),
      status: () => this.#status(),
      plan: () => this.plan,
      approve: {
        refuse: ({ hash, by }) => this.#refuseApproval(hash, by),
        accept: ({ hash, by }) => {
          const steps = this.plan === null ? [] : irreversibleSteps(this.plan);
          this.#behind.remember({ approved: { hash, by, steps } });
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
        refuse: () => (this.#behind.carried().paused === null ? 'it is not paused' : null),
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
          const { failed, declined } = this.#behind.carried();
          return failed === null && declined === null ? 'nothing has failed and nothing was cancelled' : null;
        },
        accept: () => {
          const { failed } = this.#behind.carried();
          // The failure itself is kept until the phase has been left through the table.
          this.#behind.remember({
            declined: null,
            failed: failed === null ? null : { ...failed, generation: -1, untilMs: null },
          });
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

  beginTurn(): void {
    this.#hinted = false;
    this.#asked = false;
    this.#cancel = null;
  }

  serve(served: Served): void {
    this.#served = served;
  }

  waits(waiting: EntityStatus['waiting']): void {
    this.#waiting = waiting;
  }

  operates(operation: EntityStatus['operation']): void {
    this.#operation = operation;
    if (operation === null) this.#cancel = null;
  }

  /** Whether a person asked for something, or a newer wish than the served one came in. */
  woken(served: Served | null): boolean {
    return this.#asked || (served !== null && this.#isNewer(served));
  }

  /** Why the running operation should end early, if it should. */
  stopWanted(served: Served): Stop | null {
    if (this.#cancel !== null) return { why: 'cancelled', reason: this.#cancel };
    if (!this.#isNewer(served)) return null;
    return { why: 'superseded', reason: `generation ${this.#newest?.generation ?? '?'} is wanted now` };
  }

  #isNewer(served: Served): boolean {
    const newest = this.#newest;
    if (newest === null || newest.kind !== served.kind) return false;
    return newest.uid === served.uid ? newest.generation > served.generation : newest.uid !== '';
  }

  #take(hint: Hint): void {
    this.#hinted = true;
    if (hint.kind !== this.#kind) return;
    const known = this.#newest;
    if (known === null || known.uid !== hint.uid || hint.generation > known.generation) this.#newest = hint;
  }

  #wake(): void {
    this.#hinted = true;
    this.#asked = true;
  }

  #refuseApproval(hash: string, by: string): string | null {
    if (!isText(hash) || !isText(by))
      return 'say what and who: {"hash": "sha256:…", "by": "…", "reason": "…"}';
    if (this.plan === null || this.plan.steps.length === 0) return 'there is no plan to approve';
    if (this.plan.hash !== hash)
      return `the plan is another one now: ${this.plan.hash}; read it before you approve it`;
    return null;
  }

  #status(): EntityStatus {
    const { paused, last } = this.#behind.carried();
    return {
      resource: `${this.#ref.namespace}/${this.#ref.name}`,
      uid: this.#served?.uid ?? null,
      generation: this.#served?.generation ?? 0,
      phase: this.#behind.phase(),
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
