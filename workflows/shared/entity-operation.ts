import type { EntityDesk } from './entity-desk.ts';
import type { Served } from './lifecycle.ts';
import type { OperationResult, Stop } from './messages.ts';
import type { Child, EntityPort } from './port.ts';

/** How an operation ended, and whether a person had asked for that. */
export type OperationEnd = ({ readonly result: OperationResult } | { readonly error: unknown }) & {
  readonly cancelAsked: string | null;
};

/** Waits for an operation's end, handing on what people and newer wishes want of it meanwhile. */
export function superviseOperation(
  port: EntityPort<object>,
  desk: EntityDesk,
  child: Child,
  served: Served,
  paused: () => { readonly reason: string } | null,
): Promise<OperationEnd> {
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
    const wanted = (): Stop | null => {
      const stop = desk.stopWanted(served);
      // A person's cancellation goes further than a newer wish, and nothing goes further than that.
      return stop === null || told === 'cancelled' || told === stop.why ? null : stop;
    };
    for (;;) {
      await port.until(() => end !== null || wanted() !== null || (paused() !== null) !== held, {
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
    }
  });
}
