import type { Operation } from '../../../../workflows/shared/operation.ts';
import type { LampRowTypes } from '../contract.ts';

/** Throws lamps away, one after the other; none of them comes back. */
export const dim: Operation<LampRowTypes> = {
  name: 'dim',
  interruptible: [],
  async run(run) {
    run.reached('DimmingStarted');
    await run.perform({
      Discard: ({ socket }, summary) =>
        run.port.act(summary).discardLamp({ ref: run.ref, uid: run.served.uid, socket }),
    });
    run.note({ lampsLeft: run.observed.lamps.length - 1 });
    run.reached('LampsWarm');
  },
};
