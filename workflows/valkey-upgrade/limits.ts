import { failure } from '../shared/failures.ts';
import type { OperationRun } from '../shared/operation.ts';
import { Stopped } from '../shared/stopping.ts';
import { waitingPod } from '../valkey-cluster/domain/conditions.ts';
import type { ShardTypes } from './contract.ts';

export type ShardRun = OperationRun<ShardTypes>;

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
  mend: (observed: ShardRun['observed']) => Promise<void> = async () => {},
): Promise<R> {
  const started = run.port.cancellable(work);
  let ended = false;
  const settled = started.end.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  void settled.then(() => (ended = true));
  const stopping = (): boolean => run.progress.stopping !== null;
  const endMs = run.port.nowMs() + limitSeconds * 1000;
  const summary = `at most ${limitSeconds} s for ${what}`;
  let gone: Error | null = null;
  let held = '';
  for (
    let lookMs: number = LOOK_MS.first;
    !ended && !stopping();
    lookMs = Math.min(lookMs * 2, LOOK_MS.last)
  ) {
    const leftMs = endMs - run.port.nowMs();
    if (leftMs <= 0) {
      gone = failure('ValkeyUpgradeFailed', `${what} did not come about within ${limitSeconds} s${held}`);
      break;
    }
    const timeoutMs = Math.max(1, Math.min(lookMs, leftMs));
    if (await run.port.until(() => ended || stopping(), { summary, timeoutMs })) break;
    const observed = await run.observe();
    if (observed.cluster.deleting) {
      gone = new Stopped({ why: 'superseded', reason: 'the cluster is being deleted' });
      break;
    }
    const pod = waitingPod(observed);
    held = pod === null ? '' : `: ${pod.message}`;
    if (pod !== null) run.tell(pod.message);
    gone = await mend(observed).then(
      () => null,
      (error: Error) => error,
    );
    if (gone !== null) break;
  }
  if (!ended) started.cancel();
  const outcome = await settled;
  if ('value' in outcome) return outcome.value;
  if (gone !== null) throw gone;
  if (stopping()) await run.safePoint();
  throw outcome.error;
}
