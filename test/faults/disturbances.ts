import { setTimeout as sleep } from 'node:timers/promises';
import type { StackHandle } from '../../deploy/local/testing.ts';
import type { FaultyWorker } from './faulty-worker.ts';

/** A disturbance other than the death of the worker at a point, brought about once in the middle of a run. */
export interface Disturbance {
  readonly name: string;
  /** `places` counts the places that the run has come to. */
  act(worker: FaultyWorker, places: () => number): Promise<void>;
}

const LOOK_MS = 50;
const TAKEN_UP_WITHIN_MS = 30_000;

/** Longer than the heartbeat timeout of a campaign, so that the server gives the frozen attempts up. */
const FROZEN_MS = 4_000;

/** Everything that may die or stand still in the middle of an operation: these parts, and the worker. */
export const disturbancesOf = (stack: StackHandle, parts: readonly string[]): readonly Disturbance[] => [
  ...parts.map((part) => ({
    name: `kill ${part}`,
    async act() {
      await stack.part(part).renew();
    },
  })),
  ...freezes,
];

/** Both ways in which a worker that stood still comes back to attempts that the server has given up. */
export const freezes: readonly Disturbance[] = [
  {
    // Its open polls go on receiving: each later attempt is handed to it as well, and all of them run when it wakes.
    name: 'freeze the worker while it goes on taking tasks',
    async act(worker) {
      const signal = worker.signal('SIGSTOP');
      await sleep(FROZEN_MS);
      signal('SIGCONT');
    },
  },
  {
    // It takes no new task, so that another worker has the second attempt when the first one wakes.
    name: 'freeze the worker after it was told to stop, beside another one',
    async act(worker, places) {
      const signal = worker.signal('SIGTERM');
      await worker.untilItSays('SIGTERM: stopping');
      signal('SIGSTOP');
      const before = places();
      worker.start();
      await sleep(FROZEN_MS);
      const endMs = Date.now() + TAKEN_UP_WITHIN_MS;
      while (places() === before && Date.now() < endMs) await sleep(LOOK_MS);
      signal('SIGCONT');
      if (places() === before) throw new Error('no other worker took up what the frozen one held');
    },
  },
];
