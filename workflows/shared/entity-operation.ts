import type { Approved } from './approvals.ts';
import type { EntityDesk } from './entity-desk.ts';
import type { EntityState, Seen } from './entity-state.ts';
import type { Failure } from './failure-codes.ts';
import { failureOf, resultOf } from './failures.ts';
import type { Lifecycle, LifecycleTypes, Served } from './lifecycle.ts';
import type { Carried } from './memory.ts';
import { operationId, type OperationResult, type ResourceRef, type Stop } from './messages.ts';
import type { OperationInput, Tuning } from './operation.ts';
import type { Json } from './plan.ts';
import type { Child, ChildStart, EntityPort } from './port.ts';

/** How the operation of a plan is started. */
export function buildOperation<T extends LifecycleTypes>(
  entity: string,
  lifecycle: Lifecycle<T>,
  { ref, tuning }: { readonly ref: ResourceRef; readonly tuning?: Tuning },
  { phase, carried }: EntityState<T>,
  { observed, served, plan }: Seen<T>,
  turn: number,
): ChildStart {
  const workflowType = lifecycle.operations[plan.operation];
  if (workflowType === undefined) throw new Error(`${lifecycle.name} has no operation ${plan.operation}`);
  const { carriedOut } = carried;
  const input: OperationInput<T> = {
    ref,
    served,
    plan,
    phase,
    observed,
    carriedOut,
    endToldBy: 'entity',
    ...(tuning === undefined ? {} : { tuning }),
  };
  return {
    workflowType,
    workflowId: operationId(entity, plan.operation, { ...served, turn }),
    summary: lifecycle.summary(observed, plan),
    input: input as unknown as Json,
    indexed: { kind: lifecycle.kind, ref, phase, operation: plan.operation },
  };
}

/** How an operation ended, and whether a person had asked for that. */
export type OperationEnd = ({ readonly result: OperationResult } | { readonly error: unknown }) & {
  readonly cancelAsked: string | null;
};

/** What people want of a running operation, as the entity remembers it. */
interface Wanted {
  paused(): { readonly reason: string } | null;
  approved(): Approved | null;
  /** What the operation need not be told of, because it was agreed to before it ran. */
  readonly agreed: Approved | null;
}

/** Waits for an operation's end, handing on what people and newer wishes want of it meanwhile. */
export function superviseOperation(
  port: EntityPort<object>,
  desk: EntityDesk,
  child: Child,
  served: Served,
  wishes: Wanted,
): Promise<OperationEnd> {
  const { paused, approved } = wishes;
  // An entity that is cancelled from outside has its operation cancelled with it, and waits until that has undone its work.
  return port.shielded(async () => {
    let end: { readonly result: OperationResult } | { readonly error: unknown } | null = null;
    child.result().then(
      // The result is the runner's own, typed where it is built.
      (result) => void (end = { result: result as OperationResult }),
      (error: unknown) => void (end = { error }),
    );
    let told: Stop['why'] | null = null;
    let held = false;
    let { agreed } = wishes;
    const wanted = (): Stop | null => {
      const stop = desk.stopWanted(served);
      // A person's cancellation goes further than a newer wish, and nothing goes further than that.
      return stop === null || told === 'cancelled' || told === stop.why ? null : stop;
    };
    for (;;) {
      const changed = (): boolean => (paused() !== null) !== held || approved() !== agreed;
      await port.until(() => end !== null || wanted() !== null || changed(), {
        summary: 'the operation runs',
      });
      if (end !== null) return { ...(end as { readonly error: unknown }), cancelAsked: desk.cancelAsked };
      const stop = wanted();
      if (stop !== null) {
        told = stop.why;
        await child.stop(stop);
      }
      const hold = paused();
      if ((hold !== null) !== held) {
        held = hold !== null;
        await (hold === null ? child.release() : child.hold(hold.reason));
      }
      const yes = approved();
      if (yes !== agreed) {
        agreed = yes;
        if (yes !== null) await child.tell({ approvedBy: yes.by });
      }
    }
  });
}

/** What follows from an operation's end, purely: what is remembered of it, and the failure to act on, if there is one. */
export function concludeOperation(
  end: OperationEnd,
  { served, plan, wish }: Pick<Seen<LifecycleTypes>, 'served' | 'plan'> & { readonly wish: Served },
  carried: Carried,
): {
  readonly remember: Partial<Carried>;
  readonly failure: Failure | null;
  readonly outcome: OperationResult['outcome'];
  readonly message: string;
  readonly endToldBy: OperationResult['endToldBy'];
} {
  const result = 'result' in end ? end.result : resultOf(end.error);
  const failed = 'result' in end ? shortcoming(end.result, plan.hash, carried) : causeOf(end.error);
  const outcome = result?.outcome ?? 'cancelled';
  const message = result?.message ?? failed?.message ?? outcome;
  const cancelled = end.cancelAsked ?? (outcome === 'cancelled' ? message : null);
  const failure = failed?.code === 'Cancelled' ? null : failed;
  return {
    remember: {
      // An operation that was ended from outside left no word: only the resource says how far it came.
      phase: result === null ? null : result.phase,
      last: result ?? carried.last,
      lastDone: outcome === 'done' ? plan.hash : null,
      ...(cancelled === null || outcome === 'done'
        ? {}
        : {
            declined: {
              generation: served.generation,
              operation: plan.operation,
              reason: cancelled,
              ...(wish.kind === served.kind ? {} : { uid: wish.uid }),
            },
          }),
      ...(failure === null ? { failed: null } : {}),
    },
    failure,
    outcome,
    message,
    endToldBy: result?.endToldBy,
  };
}

/** What is wrong with an operation that did not fail: it met a closed guard, or it changed nothing. */
function shortcoming(result: OperationResult, hash: string, carried: Carried): Failure | null {
  if (result.outcome === 'blocked') return { code: 'GuardBlocked', class: 'stale', message: result.message };
  if (result.outcome !== 'done' || carried.lastDone !== hash) return null;
  const message = `${result.operation} was carried out, and the same plan is needed again`;
  return { code: 'NoProgress', class: 'stale', message };
}

/** Why an operation failed; what has no name is a defect that has happened already, and no fix undoes that. */
const causeOf = (error: unknown): Failure =>
  failureOf(error) ?? {
    code: 'Defect',
    class: 'permanent',
    message: error instanceof Error ? error.message : String(error),
  };
