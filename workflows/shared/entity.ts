import { EntityDesk } from './entity-desk.ts';
import { afterFailure, type Failure } from './failure-codes.ts';
import { failure, failureOf, resultOf } from './failures.ts';
import { judgePlan } from './guards.ts';
import type { Lifecycle, LifecycleTypes, News, Served, View } from './lifecycle.ts';
import { entityId, operationId, type OperationResult, type ResourceRef } from './messages.ts';
import type { OperationInput, Tuning } from './operation.ts';
import { envelope, type Json, type PlanEnvelope } from './plan.ts';
import type { Child, EntityPort, Port } from './port.ts';
import { transition } from './transitions.ts';
import { decideTurn, freshlyCarried, remember, type Carried, type WaitOn } from './turn.ts';

/** What an entity is started with: `{"ref": {"namespace": …, "name": …}}` is all that a person types. */
export interface EntityInput {
  readonly ref: ResourceRef;
  readonly tuning?: Tuning;
  readonly carried?: Carried;
}

const DRIFT_MS = 600_000;
const DRIFT_JITTER = 0.2;
/** A blocked plan is looked at again soon, then less and less often: what it lacks may come without a hint. */
const BLOCKED_MS = { first: 5_000, last: 120_000 } as const;

/** The only writer of one resource: observe, plan, guard, operate, report, wait; as long as the resource exists. */
export async function runEntity<T extends LifecycleTypes>(
  port: EntityPort<T['activities']>,
  lifecycle: Lifecycle<T>,
  input: EntityInput,
): Promise<void> {
  refuseWrongInput(port.workflowId, lifecycle.name, input);
  const entity = new Entity(port, lifecycle, input);
  for (;;) {
    if (port.shouldContinueAsNew()) await port.continueAsNew(entity.carryOn() as unknown as Json);
    if ((await entity.turn()) === 'gone') return;
  }
}

/** The plan that an entity would follow now, or for another spec, without a single write. */
export async function runPlan<T extends LifecycleTypes>(
  port: Port<T['activities']>,
  lifecycle: Lifecycle<T>,
  input: { readonly ref: ResourceRef },
  wish: (observed: T['observed']) => T['observed'],
): Promise<PlanEnvelope<T['command']>> {
  const observed = await lifecycle.observe(port, input.ref);
  if (observed === null)
    throw failure('ResourceGone', `there is no ${lifecycle.kind} ${input.ref.namespace}/${input.ref.name}`);
  return planned(lifecycle, input.ref, wish(observed), lifecycle.served(observed).carriedOut);
}

class Entity<T extends LifecycleTypes> {
  readonly #port: EntityPort<T['activities']>;
  readonly #lifecycle: Lifecycle<T>;
  readonly #input: EntityInput;
  readonly #desk: EntityDesk;
  #carried: Carried;
  #phase: T['phase'];
  /** Set while only the resource knows the phase: at first, and after a child was ended from outside. */
  #phaseUnknown: boolean;
  #reported = '';
  #announced = '';
  #blockedInARow = 0;

  constructor(port: EntityPort<T['activities']>, lifecycle: Lifecycle<T>, input: EntityInput) {
    this.#port = port;
    this.#lifecycle = lifecycle;
    this.#input = input;
    this.#carried = input.carried ?? freshlyCarried;
    this.#phase =
      lifecycle.table.phases.find((phase) => phase === this.#carried.phase) ?? lifecycle.initialPhase;
    this.#phaseUnknown = this.#carried.phase === null;
    this.#desk = new EntityDesk(port, lifecycle.kind, input.ref, {
      carried: () => this.#carried,
      remember: (change) => void (this.#carried = { ...this.#carried, ...change }),
      phase: () => this.#phase,
    });
  }

  carryOn(): EntityInput {
    return { ...this.#input, carried: { ...this.#carried, phase: this.#phaseUnknown ? null : this.#phase } };
  }

  /** One turn: look at the world, decide, and do it or wait. */
  async turn(): Promise<'gone' | 'again'> {
    this.#desk.beginTurn();
    let observed: T['observed'] | null;
    try {
      observed = await this.#lifecycle.observe(this.#port, this.#input.ref);
    } catch (error) {
      await this.#waitAfterBlindness(error);
      return 'again';
    }
    if (observed === null) return this.#desk.hinted ? 'again' : 'gone';
    const served = this.#recognise(observed);
    const plan = planned(this.#lifecycle, this.#input.ref, observed, this.#carried.carriedOut);
    const remembered = { carriedOut: this.#carried.carriedOut };
    const lost = this.#lifecycle.lost(observed, remembered);
    this.#desk.plan = plan;
    const decision = decideTurn({ served, plan, lost, carried: this.#carried, nowMs: this.#port.nowMs() });
    if (decision.do !== 'wait' || decision.on !== 'guard') this.#blockedInARow = 0;
    switch (decision.do) {
      case 'rest':
        await this.#rest(observed, served);
        break;
      case 'operate':
        await this.#operate(observed, served, plan);
        break;
      case 'fail':
        await this.#fail(observed, served, decision.failure);
        break;
      case 'wait':
        await this.#wait(observed, served, plan, decision);
        break;
    }
    return 'again';
  }

  /** Takes the resource for the one that is remembered, or for a new one of which nothing is. */
  #recognise(observed: T['observed']): Served {
    const served = this.#lifecycle.served(observed);
    if (this.#phaseUnknown || this.#carried.uid !== served.uid) {
      this.#phaseUnknown = false;
      this.#phase =
        this.#lifecycle.table.phases.find((phase) => phase === served.phase) ?? this.#lifecycle.initialPhase;
    }
    this.#carried = remember(this.#carried, served);
    this.#desk.serve(served);
    return served;
  }

  async #rest(observed: T['observed'], served: Served): Promise<void> {
    this.#recover();
    const remembered = { carriedOut: this.#carried.carriedOut };
    for (const event of this.#lifecycle.settle(observed, this.#phase, remembered)) this.#go(event);
    this.#carried = { ...this.#carried, carriedOut: served.generation, failed: null, declined: null };
    const { paused } = this.#carried;
    await this.#report(observed, served, paused === null ? '' : `paused: ${paused.reason}`, {
      reason: 'Settled',
    });
    const driftMs = (this.#input.tuning?.driftMs ?? DRIFT_MS) * (1 + DRIFT_JITTER * this.#port.random());
    this.#desk.waits({ on: 'drift', message: 'as desired', untilMs: this.#port.nowMs() + driftMs });
    await this.#port.until(() => this.#desk.hinted, {
      summary: 'as desired; looks again for drift',
      timeoutMs: driftMs,
    });
    this.#desk.waits(null);
  }

  async #wait(
    observed: T['observed'],
    served: Served,
    plan: PlanEnvelope<T['command']>,
    decision: { readonly on: WaitOn; readonly message: string; readonly untilMs: number | null },
  ): Promise<void> {
    const { on, message } = decision;
    const failed = this.#carried.failed?.failure ?? null;
    await this.#report(observed, served, message, {
      reason: REASONS[on],
      blocked: on === 'guard' || on === 'approval' ? message : null,
      failure: on === 'back-off' || on === 'change' ? failed : null,
    });
    if (on === 'guard') {
      this.#blockedInARow += 1;
      const guard = plan.blocked[0]?.guard ?? 'guard';
      this.#port.measures.guardBlocked({ lifecycle: this.#lifecycle.name, guard });
    }
    if (on === 'guard' || on === 'approval') {
      await this.#announce(observed, served, { type: 'Warning', reason: REASONS[on], message });
    }
    const untilMs = on === 'guard' ? this.#port.nowMs() + blockedMs(this.#blockedInARow) : decision.untilMs;
    this.#desk.waits({ on, message, untilMs });
    const startedAtMs = this.#port.nowMs();
    // In a back-off, and after a failure, our own status writes must not wake us: only a newer wish or a person does.
    const wakes =
      on === 'guard' || on === 'approval' ? () => this.#desk.hinted : () => this.#desk.woken(served);
    await this.#port.until(wakes, {
      summary: `${on}: ${message}`,
      ...(untilMs === null ? {} : { timeoutMs: Math.max(untilMs - startedAtMs, 1) }),
    });
    this.#port.measures.waited(
      { lifecycle: this.#lifecycle.name, on },
      (this.#port.nowMs() - startedAtMs) / 1000,
    );
    this.#desk.waits(null);
  }

  async #operate(observed: T['observed'], served: Served, plan: PlanEnvelope<T['command']>): Promise<void> {
    this.#recover();
    const turn = this.#carried.turns + 1;
    this.#carried = { ...this.#carried, turns: turn, declined: null };
    const workflowType = this.#lifecycle.operations[plan.operation];
    if (workflowType === undefined)
      throw new Error(`${this.#lifecycle.name} has no operation ${plan.operation}`);
    const workflowId = operationId(this.#port.workflowId, plan.operation, { ...served, turn });
    const summary = this.#lifecycle.summary(observed, plan);
    const input: OperationInput<T> = {
      ref: this.#input.ref,
      served,
      plan,
      phase: this.#phase,
      observed,
      carriedOut: this.#carried.carriedOut,
      ...(this.#input.tuning === undefined ? {} : { tuning: this.#input.tuning }),
    };
    const indexed = {
      kind: this.#lifecycle.kind,
      ref: this.#input.ref,
      phase: this.#phase,
      operation: plan.operation,
    };
    this.#port.show(`**${summary}**\n\nSteps and progress: workflow \`${workflowId}\``);
    this.#port.index(indexed);
    let child: Child;
    try {
      child = await this.#port.startChild({
        workflowType,
        workflowId,
        summary,
        input: input as unknown as Json,
        indexed,
      });
    } catch (error) {
      const failed = failureOf(error);
      if (failed === null || failed.code === 'Cancelled') throw error;
      return this.#fail(observed, served, failed);
    }
    this.#desk.operates({ name: plan.operation, workflowId, startedAtMs: this.#port.nowMs() });
    // The child writes the status now, so the entity knows no longer what it says.
    this.#reported = '';
    const ended = await this.#follow(child, served);
    this.#desk.operates(null);
    await this.#conclude(observed, served, plan, ended);
  }

  /** Waits for the child's end, handing on what people and newer wishes want of it meanwhile. */
  async #follow(child: Child, served: Served): Promise<OperationResult | { readonly error: unknown }> {
    let ended: OperationResult | { readonly error: unknown } | null = null;
    // The result is the runner's own, typed where it is built.
    child.result().then(
      (result) => void (ended = result as OperationResult),
      (error: unknown) => void (ended = { error }),
    );
    let held = false;
    let stopped = false;
    for (;;) {
      const news = (): boolean =>
        ended !== null ||
        (!stopped && this.#desk.stopWanted(served) !== null) ||
        (this.#carried.paused !== null) !== held;
      await this.#port.until(news, { summary: 'the operation runs' });
      if (ended !== null) return ended;
      const stop = stopped ? null : this.#desk.stopWanted(served);
      if (stop !== null) {
        stopped = true;
        await child.stop(stop);
      }
      const paused = this.#carried.paused;
      if ((paused !== null) !== held) {
        held = paused !== null;
        await (paused === null ? child.release() : child.hold(paused.reason));
      }
    }
  }

  async #conclude(
    observed: T['observed'],
    served: Served,
    plan: PlanEnvelope<T['command']>,
    ended: OperationResult | { readonly error: unknown },
  ): Promise<void> {
    if (!('error' in ended)) {
      this.#adopt(ended);
      const { outcome, message } = ended;
      if (outcome === 'cancelled') this.#decline(served, plan, message);
      this.#carried = { ...this.#carried, failed: null, last: ended };
      const type = outcome === 'done' ? 'Normal' : 'Warning';
      await this.#announce(observed, served, {
        type,
        reason: EVENT_REASONS[outcome],
        message: `${plan.operation}: ${message}`,
      });
      return;
    }
    const failed = failureOf(ended.error);
    if (failed === null) throw ended.error;
    const result = resultOf(ended.error);
    if (result !== null) this.#adopt(result);
    this.#carried = { ...this.#carried, last: result ?? this.#carried.last };
    if (failed.code === 'Cancelled') {
      this.#phaseUnknown = result === null;
      this.#decline(served, plan, failed.message);
      return;
    }
    await this.#fail(observed, served, failed);
  }

  #decline(served: Served, plan: PlanEnvelope<T['command']>, reason: string): void {
    this.#carried = {
      ...this.#carried,
      declined: { generation: served.generation, operation: plan.operation, reason },
    };
  }

  #adopt(result: OperationResult): void {
    this.#phase = this.#lifecycle.table.phases.find((phase) => phase === result.phase) ?? this.#phase;
  }

  async #fail(observed: T['observed'], served: Served, failed: Failure): Promise<void> {
    const inARow = (this.#carried.failed?.inARow ?? 0) + 1;
    const then = afterFailure(failed, inARow);
    const untilMs = then.next === 'back-off' ? this.#port.nowMs() + then.delayMs : null;
    this.#carried = {
      ...this.#carried,
      failed: { failure: failed, generation: served.generation, inARow, then, untilMs },
    };
    if (then.next === 'await-change') this.#go(this.#lifecycle.events.failed);
    const message = `${failed.code}: ${failed.message}`;
    await this.#report(observed, served, message, { reason: failed.code, failure: failed });
    await this.#announce(observed, served, { type: 'Warning', reason: failed.code, message });
  }

  /** Leaves the failed phase when what failed may be tried again. */
  #recover(): void {
    if (this.#carried.failed?.then.next !== 'await-change') return;
    this.#carried = { ...this.#carried, failed: null };
    this.#go(this.#lifecycle.events.recovered);
  }

  #go(event: T['event']): void {
    const outcome = transition(this.#lifecycle.table, this.#phase, event);
    if (outcome.moved) this.#phase = outcome.to;
  }

  /** The world could not be looked at: nothing is known, so nothing is done but to try again, visibly. */
  async #waitAfterBlindness(error: unknown): Promise<void> {
    const failed = failureOf(error);
    if (failed === null || failed.code === 'Cancelled') throw error;
    const inARow = (this.#carried.failed?.inARow ?? 0) + 1;
    const delayMs = blockedMs(inARow);
    const untilMs = this.#port.nowMs() + delayMs;
    const then = { next: 'back-off', delayMs } as const;
    this.#carried = { ...this.#carried, failed: { failure: failed, generation: -1, inARow, then, untilMs } };
    const message = `cannot observe: ${failed.code}: ${failed.message}`;
    this.#port.show(message);
    this.#desk.waits({ on: 'back-off', message, untilMs });
    await this.#port.until(() => this.#desk.woken(null), { summary: message, timeoutMs: delayMs });
    this.#desk.waits(null);
  }

  async #report(
    observed: T['observed'],
    served: Served,
    message: string,
    said: { readonly reason: string; readonly blocked?: string | null; readonly failure?: Failure | null },
  ): Promise<void> {
    const view: View<T> = {
      observed,
      served,
      phase: this.#phase,
      message,
      reason: said.reason,
      operation: null,
      blocked: said.blocked ?? null,
      failure: said.failure ?? null,
      paused: this.#carried.paused !== null,
      carriedOut: this.#carried.carriedOut,
      last: this.#carried.last,
    };
    this.#desk.conditions = this.#lifecycle.conditions(view);
    this.#desk.message = message;
    this.#port.show(`**${this.#phase}** ${message}`);
    const text = JSON.stringify(view);
    if (text === this.#reported) return;
    this.#port.index({
      kind: this.#lifecycle.kind,
      ref: this.#input.ref,
      phase: this.#phase,
      operation: null,
    });
    if (await this.#tolerateStale(() => this.#lifecycle.report(this.#port, view))) this.#reported = text;
  }

  async #announce(observed: T['observed'], served: Served, news: News): Promise<void> {
    const text = JSON.stringify(news);
    if (text === this.#announced) return;
    this.#announced = text;
    const view = { observed, served, phase: this.#phase } as View<T>;
    await this.#tolerateStale(() => this.#lifecycle.announce(this.#port, view, news));
  }

  /** A resource that went away while we wrote on it is found out by the next observation. */
  async #tolerateStale(write: () => Promise<void>): Promise<boolean> {
    try {
      await write();
      return true;
    } catch (error) {
      const failed = failureOf(error);
      if (failed === null || failed.code === 'Cancelled') throw error;
      this.#desk.message = `cannot write the status: ${failed.message}`;
      return false;
    }
  }
}

/** Plans and asks the guards; the same for a turn, a dry run and a query. */
function planned<T extends LifecycleTypes>(
  lifecycle: Lifecycle<T>,
  ref: ResourceRef,
  observed: T['observed'],
  carriedOut: number | null,
): PlanEnvelope<T['command']> {
  const plan = lifecycle.plan(observed, { carriedOut });
  return envelope(
    lifecycle.name,
    `${ref.namespace}/${ref.name}`,
    plan,
    judgePlan(lifecycle.guards, observed, plan),
  );
}

function refuseWrongInput(workflowId: string, lifecycle: string, input: EntityInput): void {
  const { namespace, name } = (input as Partial<EntityInput> | undefined)?.ref ?? {};
  if (typeof namespace !== 'string' || typeof name !== 'string' || namespace === '' || name === '') {
    throw failure('InvalidInput', 'the input must be {"ref": {"namespace": "…", "name": "…"}}');
  }
  const own = entityId(lifecycle, input.ref);
  if (workflowId !== own) {
    throw failure(
      'InvalidInput',
      `this resource has one workflow, ${own}: start it under that id, not ${workflowId}`,
    );
  }
  const carried = input.carried?.version;
  if (carried !== undefined && carried !== 1) {
    throw new Error(`the remembered state has version ${String(carried)}, which this worker does not know`);
  }
}

const blockedMs = (inARow: number): number =>
  Math.min(BLOCKED_MS.first * 2 ** Math.min(inARow - 1, 10), BLOCKED_MS.last);

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
