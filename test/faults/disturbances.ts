import { setTimeout as sleep } from 'node:timers/promises';
import type { StackHandle } from '../../deploy/local/testing.ts';
import type { Disturbance } from './campaign.ts';
import type { FaultyWorker } from './faulty-worker.ts';

/** Longer than the heartbeat timeout of a campaign, so that the server gives the frozen attempts up. */
const FROZEN_MS = 4_000;

/** Everything but the worker that may die or stand still in the middle of an operation. */
export const disturbancesOf = (stack: StackHandle): readonly Disturbance[] => [
  ...['starter', 'temporal', 'kube-apiserver', 'etcd'].map((part) => ({
    name: `kill ${part}`,
    async act() {
      const before = stack.part(part).process();
      await stack.part(part).kill();
      await stack.part(part).awaitReady(before);
    },
  })),
  {
    name: 'freeze the worker while it goes on taking tasks',
    act: (worker) => freeze(worker),
  },
  {
    name: 'freeze the worker after it was told to stop',
    async act(worker) {
      // It takes no new task from now on, so that exactly two attempts of what it holds run at once.
      signal(worker, 'SIGTERM');
      await freeze(worker);
    },
  },
];

async function freeze(worker: FaultyWorker): Promise<void> {
  const { pid } = worker;
  signal(worker, 'SIGSTOP');
  await sleep(FROZEN_MS);
  if (pid !== undefined && worker.pid === pid) process.kill(pid, 'SIGCONT');
}

function signal(worker: FaultyWorker, name: NodeJS.Signals): void {
  if (worker.pid === undefined) throw new Error('no worker runs');
  process.kill(worker.pid, name);
}
