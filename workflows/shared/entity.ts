import { isAhead, type Approved } from './approvals.ts';
import { EntityDesk } from './entity-desk.ts';
import { refuseWrongSettings } from './entity-input.ts';
import {
  buildOperation,
  concludeOperation,
  superviseOperation,
  type OperationEnd,
} from './entity-operation.ts';
import { EntityState, type Seen } from './entity-state.ts';
import { EntityVoice } from './entity-voice.ts';
import type { Failure } from './failure-codes.ts';
import { failure, failureOf } from './failures.ts';
import type { Lifecycle, LifecycleTypes, Remembered, Served, View } from './lifecycle.ts';
import type { Carried } from './memory.ts';
import { entityId, type OperationResult, type ResourceRef } from './messages.ts';
import type { Tuning } from './operation.ts';
import type { Json } from './plan.ts';
import { planned, refuseWrongRef } from './planning.ts';
import type { EntityPort } from './port.ts';
import { decideTurn, type Decision, type WaitOn } from './turn.ts';

/** What an entity is started with: `{"ref": {"namespace": …, "name": …}}` is all that a person types. */
export interface EntityInput {
  readonly ref: ResourceRef;
  readonly tuning?: Tuning;
  readonly carried?: Carried;
}

/** The change with which a cancellation that missed its operation is carried out by the next one. */
const ANSWERS_CANCEL = 'answers-cancel';
/** The change with which any hint is looked at while a cancelled wish is not taken up again. */
const LISTENS_AFTER_CANCEL = 'listens-after-cancel';
const DRIFT_MS = 600_000;
const DRIFT_JITTER = 0.2;
/** What is blocked or cannot be seen is looked at again soon, then less and less often: no hint may come of it. */
const LOOK_AGAIN_MS = { first: 5_000, last: 120_000 } as const;

/** The only writer of one resource: observe, plan, guard, operate, report, wait; as long as the resource exists. */
export async function runEntity<T extends LifecycleTypes>(
  port: EntityPort<T['activities']>,
  lifecycle: Lifecycle<T>,
  input: EntityInput,
): Promise<void> {
  refuseWrongInput(port.workflowId, lifecycle.name, input);
  const entity = new Entity(port, lifecycle, input);
  // No child is open between two turns, so that continue-as-new can end none.
  for (let end = await entity.turn(); end !== 'gone'; end = await entity.turn()) {
    if (end === 'afresh' || (port.shouldContinueAsNew() && !entity.owesStatus)) {
      await port.continueAsNew(entity.carryOn() as unknown as Json);
    }
  }
}

class Entity<T extends LifecycleTypes> {
  readonly #port: EntityPort<T['activities']>;
  readonly #lifecycle: Lifecycle<T>;
  readonly #input: EntityInput;
  readonly #state: EntityState<T>;
  readonly #desk: EntityDesk;
  readonly #voice: EntityVoice<T>;
  /** The end of an operation, which the next look at the world is to be told with. */
  #untold: View<T> | null = null;
  #blindInARow = 0;
  #blockedInARow = 0;

  constructor(port: EntityPort<T['activities']>, lifecycle: Lifecycle<T>, input: EntityInput) {
    this.#port = port;
    this.#lifecycle = lifecycle;
    this.#input = input;
    this.#state = new EntityState(lifecycle, input.carried);
    this.#desk = new EntityDesk(port, input.ref, this.#state);
    this.#voice = new EntityVoice(port, lifecycle, input.ref, this.#desk);
  }

  /** Whether the resource still says that an operation runs which has ended. */
  get owesStatus(): boolean {
    return this.#untold !== null;
  }

  carryOn(): EntityInput {
    return { ...this.#input, carried: this.#state.carried };
  }

  /** One turn: look at the world, decide, and do it or wait. */
  async turn(): Promise<'gone' | 'again' | 'afresh'> {
    this.#desk.beginTurn();
    let seen: Seen<T> | null = null;
    try {
      const observed = await this.#observe();
      if (observed === 'unseen') return 'again';
      if (observed === null) return this.#desk.hinted ? 'again' : 'gone';
      seen = this.#plan(observed);
      await this.#act(seen);
      this.#state.remember({ defect: null });
      return 'again';
    } catch (error) {
      if (failureOf(error)?.code === 'Cancelled') throw error;
      return this.#park(error, seen);
    }
  }

  /** Looks at the world. What cannot be seen is not acted on: nothing is done but to try again, visibly. */
  async #observe(): Promise<T['observed'] | null | 'unseen'> {
    try {
      const observed = await this.#lifecycle.observe(this.#port, this.#input.ref);
      this.#blindInARow = 0;
      this.#untold = null;
      return observed;
    } catch (error) {
      const failed = failureOf(error);
      if (failed === null || failed.code === 'Cancelled') throw error;
      this.#blindInARow += 1;
      const message = `cannot observe: ${failed.code}: ${failed.message}`;
      await this.#tellEnd();
      this.#port.show(message);
      this.#desk.message = message;
      await this.#idle('back-off', message, () => this.#desk.asked, lookAgainMs(this.#blindInARow));
      return 'unseen';
    }
  }

  get #remembered(): Remembered {
    return { carriedOut: this.#state.carried.carriedOut, knows: this.#port.knows };
  }

  #plan(observed: T['observed']): Seen<T> {
    const served = this.#lifecycle.served(observed);
    this.#state.recognise(served);
    this.#desk.serve(served);
    const plan = planned(this.#lifecycle, this.#input.ref, observed, this.#remembered);
    this.#desk.plan = plan;
    return { observed, served, plan };
  }

  /** Decides, and does it; a failure that has a name is the resource's, anything else a defect of ours. */
  async #act(seen: Seen<T>): Promise<void> {
    try {
      const { carried } = this.#state;
      const lost = this.#lifecycle.lost(seen.observed, this.#remembered);
      const decision = decideTurn({
        ...seen,
        lost,
        carried,
        nowMs: this.#port.nowMs(),
        ...this.#declining(seen),
      });
      if (decision.do !== 'wait' || decision.on !== 'guard') this.#blockedInARow = 0;
      if (decision.do === 'rest') await this.#rest(seen);
      if (decision.do === 'operate') await this.#operate(seen, decision.cancelled ?? null);
      if (decision.do === 'fail') await this.#fail(seen, decision.failure, true);
      if (decision.do === 'wait') await this.#wait(seen, decision);
    } catch (error) {
      const failed = failureOf(error);
      if (failed === null || failed.code === 'Cancelled') throw error;
      await this.#fail(seen, failed);
    }
  }

  /** What bears on a wish that was cancelled, looked up only where one was. */
  #declining({ observed, plan }: Seen<T>): Pick<Parameters<typeof decideTurn>[0], 'wish' | 'answersCancel'> {
    if (this.#state.carried.declined === null) return {};
    const lifecycle = this.#lifecycle;
    const answers = lifecycle.answersCancel?.(observed, plan) === true && this.#port.knows(ANSWERS_CANCEL);
    return { wish: lifecycle.serves?.(observed, plan) ?? null, answersCancel: answers };
  }

  async #rest(seen: Seen<T>): Promise<void> {
    const state = this.#state;
    await this.#recover(seen);
    const { paused } = state.carried;
    state.settle(this.#lifecycle.settle(seen.observed, state.phase, this.#remembered));
    const { generation } = seen.served;
    state.remember({
      carriedOut: generation,
      failed: null,
      declined: null,
      approved: null,
      lastDone: null,
    });
    const message = paused === null ? '' : `paused: ${paused.reason}`;
    await this.#voice.report(state.view(seen, { message, reason: 'Settled' }));
    const hinted = (): boolean => this.#desk.hinted;
    await this.#idle('drift', 'as desired; looks again for drift', hinted, this.#driftMs());
  }

  /** When to look again unasked, a little different each time, so that entities that began together do not stay together. */
  #driftMs(): number {
    return (this.#input.tuning?.driftMs ?? DRIFT_MS) * (1 + DRIFT_JITTER * this.#port.random());
  }

  async #wait(seen: Seen<T>, decision: Extract<Decision, { readonly do: 'wait' }>): Promise<void> {
    const { on, message, untilMs } = decision;
    const failing = on === 'back-off' || on === 'change';
    const held = on === 'guard' || on === 'approval';
    if (!failing) await this.#settleWaiting(seen);
    const view = this.#state.view(seen, {
      message,
      reason: REASONS[on],
      blocked: held ? message : null,
      failure: failing ? (this.#state.carried.failed?.failure ?? null) : null,
    });
    await this.#voice.report(view);
    if (held) await this.#voice.announce(view, { type: 'Warning', reason: REASONS[on], message });
    if (on === 'guard') {
      this.#blockedInARow += 1;
      const guard = seen.plan.blocked[0]?.guard ?? 'guard';
      this.#port.measures.guardBlocked({ lifecycle: this.#lifecycle.name, guard });
      return this.#idle(on, message, () => this.#desk.hinted, lookAgainMs(this.#blockedInARow));
    }
    // What a look has found, another look may find gone: looking does no harm.
    const found = on === 'change' && (this.#state.carried.failed?.found ?? false);
    // Our own status writes cause hints. After a failure they must not wake us: only a newer wish or a person does.
    // One that was cancelled has not failed: another wish may have come in.
    const listens = held || found || (on === 'cancelled' && this.#port.knows(LISTENS_AFTER_CANCEL));
    const wakes = listens ? () => this.#desk.hinted : () => this.#desk.woken(seen.served);
    const endMs = untilMs === null ? null : untilMs - this.#port.nowMs();
    await this.#idle(on, message, wakes, found ? this.#driftMs() : endMs);
  }

  /** What was as desired once is what it is found to be, whatever it waits for; a first wish has not come so far. */
  async #settleWaiting(seen: Seen<T>): Promise<void> {
    const state = this.#state;
    await this.#recover(seen);
    // Another phase is another write of the status, which runs that began before this change have not made.
    if (state.carried.carriedOut !== null && this.#port.knows('settle-while-waiting'))
      state.settle(this.#lifecycle.settle(seen.observed, state.phase, this.#remembered));
  }

  /** Leaves what a failure left behind. That the failed phase was left is told, however soon the next one follows. */
  async #recover(seen: Seen<T>): Promise<void> {
    const state = this.#state;
    const entered = state.carried.failed?.entered ?? false;
    state.recover();
    if (!entered || !this.#port.knows('tell-recovery')) return;
    const message = 'the failure stands in the way no more: it is looked at anew';
    await this.#voice.report(state.view(seen, { message, reason: 'Recovering' }));
  }

  /** Waits between two turns, and says so. A history that has grown too long ends the wait, but no deadline that is remembered. */
  async #idle(
    on: WaitOn | 'drift',
    message: string,
    wakes: () => boolean,
    timeoutMs: number | null,
  ): Promise<void> {
    const startedAtMs = this.#port.nowMs();
    this.#desk.waits({ on, message, untilMs: timeoutMs === null ? null : startedAtMs + timeoutMs });
    await this.#port.until(() => wakes() || this.#port.shouldContinueAsNew(), {
      summary: `${on}: ${message}`,
      ...(timeoutMs === null ? {} : { timeoutMs: Math.max(timeoutMs, 1) }),
    });
    this.#desk.waits(null);
    const seconds = (this.#port.nowMs() - startedAtMs) / 1000;
    this.#port.measures.waited({ lifecycle: this.#lifecycle.name, on }, seconds);
  }

  async #operate(seen: Seen<T>, cancelled: string | null): Promise<void> {
    await this.#recover(seen);
    const turn = this.#state.carried.turns + 1;
    const served = this.#lifecycle.serves?.(seen.observed, seen.plan) ?? seen.served;
    const start = buildOperation(
      this.#port.workflowId,
      this.#lifecycle,
      this.#input,
      this.#state,
      { ...seen, served },
      turn,
    );
    this.#voice.handOver(start.summary, start.workflowId, start.indexed);
    const child = await this.#port.startChild(start);
    // Only now: an operation of this id that still ran would be met again, and not passed by.
    this.#state.remember({ turns: turn, declined: null });
    const { workflowId } = start;
    this.#desk.operates({ name: seen.plan.operation, workflowId, startedAtMs: this.#port.nowMs() });
    if (cancelled !== null) this.#desk.cancel(cancelled);
    const end = await superviseOperation(this.#port, this.#desk, child, served, {
      paused: () => this.#state.carried.paused,
      approved: () => this.#state.carried.approved,
      agreed: this.#agreedTo(seen.plan),
    });
    this.#desk.operates(null);
    await this.#conclude(seen, served, end);
  }

  /** What an operation that has just been started need not be told; an approval that came ahead of it is not among that. */
  #agreedTo(plan: Seen<T>['plan']): Approved | null {
    const { approved } = this.#state.carried;
    // The signal is a command, which runs that began before this change have not given.
    if (approved === null || !isAhead(approved, plan) || !this.#port.knows('tell-approval-ahead'))
      return approved;
    this.#state.remember({ approved: { ...approved, ahead: false } });
    return null;
  }

  async #conclude(seen: Seen<T>, wish: Served, end: OperationEnd): Promise<void> {
    const state = this.#state;
    const conclusion = concludeOperation(end, { ...seen, wish }, state.carried);
    state.remember(conclusion.remember);
    if (conclusion.failure !== null) return this.#fail(seen, conclusion.failure);
    const { outcome, message } = conclusion;
    const view = state.view(seen, { message, reason: EVENT_REASONS[outcome], past: true });
    if (conclusion.endToldBy === 'entity') this.#untold = view;
    await this.#voice.announce(view, {
      type: outcome === 'done' ? 'Normal' : 'Warning',
      reason: EVENT_REASONS[outcome],
      message: `${seen.plan.operation}: ${message}`,
    });
  }

  /** Tells the end of an operation by what was known before it, because the world as it is now cannot be seen. */
  async #tellEnd(): Promise<void> {
    const view = this.#untold;
    this.#untold = null;
    if (view !== null) await this.#voice.report(view);
  }

  async #fail(seen: Seen<T>, failed: Failure, found = false): Promise<void> {
    const message = this.#state.fail(seen.served, failed, this.#port.nowMs(), found);
    const view = this.#state.view(seen, { message, reason: failed.code, failure: failed, past: true });
    await this.#voice.report(view);
    await this.#voice.announce(view, { type: 'Warning', reason: failed.code, message });
  }

  /**
   * Tells of a defect, then begins a run that parks where it meets the defect again: a plain error stops it there,
   * and after a fix it goes on by itself, because its history holds nothing that the fixed code would not do.
   */
  async #park(error: unknown, seen: Seen<T> | null): Promise<'afresh'> {
    const message = `parked by a defect: ${error instanceof Error ? error.message : String(error)}`;
    if (this.#state.carried.defect === message) throw new Error(message, { cause: error });
    this.#state.remember({ defect: message });
    this.#port.show(message);
    try {
      const failed: Failure = { code: 'Defect', class: 'permanent', message };
      if (seen !== null)
        await this.#voice.report(this.#state.view(seen, { message, reason: 'Defect', failure: failed }));
    } catch (second) {
      // Even telling of it does not work: the trigger service tells of parked workflows too.
      throw new Error(message, { cause: second });
    }
    return 'afresh';
  }
}

function refuseWrongInput(workflowId: string, lifecycle: string, input: EntityInput): void {
  const own = entityId(lifecycle, refuseWrongRef(input));
  if (workflowId !== own) {
    throw failure(
      'InvalidInput',
      `this resource has one workflow, ${own}: start it under that id, not ${workflowId}`,
    );
  }
  refuseWrongSettings(input);
}

const lookAgainMs = (inARow: number): number =>
  Math.min(LOOK_AGAIN_MS.first * 2 ** Math.min(inARow - 1, 10), LOOK_AGAIN_MS.last);

const REASONS: Readonly<Record<WaitOn, string>> = {
  pause: 'Paused',
  'back-off': 'BackOff',
  change: 'AwaitingChange',
  cancelled: 'OperationCancelled',
  guard: 'Blocked',
  approval: 'AwaitingApproval',
};

const EVENT_REASONS: Readonly<Record<OperationResult['outcome'], string>> = {
  done: 'OperationDone',
  superseded: 'OperationSuperseded',
  cancelled: 'OperationCancelled',
  failed: 'OperationFailed',
  blocked: 'OperationBlocked',
};
