import { failure } from '../shared/failures.ts';
import type { OperationRun } from '../shared/operation.ts';
import { Stopped } from '../shared/stopping.ts';
import { waitingPod } from '../valkey-cluster/domain/conditions.ts';
import type { ShardTypes } from './contract.ts';

export type ShardRun = OperationRun<ShardTypes>;

/** Since when a look that fails meanwhile ends the work first. */
const ENDS_WORK = 'valkey-upgrade-ends-work';

const LOOK_MS = { first: 10_000, last: 60_000 } as const;

/**
 * Does something that waits, for so long at most. Meanwhile it says what holds it up, and lets go when a person or a newer
 * wish ends the upgrade, or the cluster is deleted: what it waited for is then planned again. What would keep it waiting
 * in vain may be mended at each look.
 */
export async function within<R>(
  run: ShardRun,
  limitSeconds: number,
  what: string,
  work: () => Promise<R>,
  mend?: (observed: ShardRun['observed']) => Promise<void>,
): Promise<R> {
  const started = run.port.cancellable(work);
  let ended = false;
  const settled = started.end.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  void settled.then(() => (ended = true));
  const over = (): boolean => ended || run.progress.stopping !== null;
  const endMs = run.port.nowMs() + limitSeconds * 1000;
  const summary = `at most ${limitSeconds} s for ${what}`;
  let gone: Error | null = null;
  let held = '';
  try {
    for (let lookMs: number = LOOK_MS.first; !over(); lookMs = Math.min(lookMs * 2, LOOK_MS.last)) {
      const leftMs = endMs - run.port.nowMs();
      if (leftMs <= 0) {
        gone = failure('ValkeyUpgradeFailed', `${what} did not come about within ${limitSeconds} s${held}`);
        break;
      }
      const timeoutMs = Math.max(1, Math.min(lookMs, leftMs));
      if (await run.port.until(over, { summary, timeoutMs })) break;
      const observed = await run.observe();
      if (observed.cluster.deleting) {
        gone = new Stopped({ why: 'superseded', reason: 'the cluster is being deleted' });
        break;
      }
      held = tellHolder(run, observed);
      if (mend !== undefined) await mend(observed);
    }
  } catch (error) {
    // Whatever follows plans from what is there, so nothing that was begun here may still change that.
    if (run.port.knows(ENDS_WORK)) {
      started.cancel();
      await settled;
    }
    throw error;
  }
  if (!ended) started.cancel();
  const outcome = await settled;
  if ('value' in outcome) return outcome.value;
  if (gone !== null) throw gone;
  if (run.progress.stopping !== null) await run.safePoint();
  throw outcome.error;
}

/** Says which pod holds the work up, if one does; the words go into what is told when its time is over. */
function tellHolder(run: ShardRun, observed: ShardRun['observed']): string {
  const pod = waitingPod(observed);
  if (pod !== null) run.tell(pod.message);
  return pod === null ? '' : `: ${pod.message}`;
}
