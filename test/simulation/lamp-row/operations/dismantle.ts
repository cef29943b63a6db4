import type { Operation } from '../../../../workflows/shared/operation.ts';
import type { LampRowTypes } from '../contract.ts';

/** Takes the whole row away and lets the resource go. */
export const dismantle: Operation<LampRowTypes> = {
  name: 'dismantle',
  interruptible: [],
  async run(run) {
    const row = { ref: run.ref, uid: run.served.uid };
    run.reached('DismantlingStarted');
    await run.perform({
      Discard: ({ socket }, summary) => run.port.act(summary).discardLamp({ ...row, socket }),
    });
    await run.perform({ Release: (_step, summary) => run.port.act(summary).releaseLampRow(row) });
  },
};
