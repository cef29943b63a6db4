import type { Operation } from '../../../../workflows/shared/operation.ts';
import type { LampRowTypes } from '../contract.ts';

/** Puts lamps into their sockets and waits until they give light. */
export const lightUp: Operation<LampRowTypes> = {
  name: 'light-up',
  interruptible: ['AwaitWarm'],
  // Two sockets hang on one fuse, which is off while either lamp is being put in.
  parts: (step) => (step.kind === 'ScrewIn' ? [`fuse-${step.socket % 3}`] : []),
  async run(run) {
    const target = (socket: number) => ({ ref: run.ref, uid: run.served.uid, socket });
    run.reached('LightingStarted');
    await run.perform({
      ScrewIn: ({ socket }, summary) => {
        run.onCancel(`the lamp in socket ${socket}`, () =>
          run.port.act(`undo: unscrew the lamp in socket ${socket}`).unscrewLamp(target(socket)),
        );
        return run.port.act(summary).screwInLamp(target(socket));
      },
    });
    run.reached('LampsPlaced');
    await run.perform({
      AwaitWarm: ({ socket }, summary) => run.port.wait(summary).awaitLampWarm(target(socket)),
    });
    run.reached('LampsWarm');
  },
};
