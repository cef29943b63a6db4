import { failureOf } from '../shared/failures.ts';
import type { Performers } from '../shared/operation.ts';
import type { ValkeyTypes } from './contract.ts';
import { buildAccess, serversOf } from './domain/access.ts';
import { awaitReady, selectAwaited, type ValkeyRun } from './performers.ts';

/** The change with which servers that come back are introduced before their pods are Ready. */
const MEETS_EARLY = 'valkey-meets-early';

/**
 * How pods are awaited that come back to a cluster. A master that was alone for too long refuses clients for five
 * seconds more, and a probe may need two to call its pod Ready: so the servers are introduced to each other as soon as
 * they answer.
 */
export const returningPerformersOf = (run: ValkeyRun): Performers<ValkeyTypes, 'AwaitPods'> => ({
  async AwaitPods(step, summary) {
    const pods = selectAwaited(run.observed, run.input.plan, step);
    if (!run.port.knows(MEETS_EARLY)) return awaitReady(run, pods, summary);
    const meeting = run.port.cancellable(() => introduceEarly(run, pods, summary));
    const met = meeting.end.then(
      () => null,
      (error: unknown) => ({ error }),
    );
    try {
      await awaitReady(run, pods, summary);
    } catch (error) {
      meeting.cancel();
      await met;
      throw error;
    }
    const failed = await met;
    // The introduction that is planned comes next, and tells what stood in the way of this one.
    if (failed !== null && (failureOf(failed.error)?.code ?? 'Cancelled') === 'Cancelled') throw failed.error;
  },
});

async function introduceEarly(
  run: ValkeyRun,
  pods: ReturnType<typeof selectAwaited>,
  summary: string,
): Promise<void> {
  const running = await run.port
    .wait(`${summary} (started)`)
    .awaitKubernetesPods({ ...pods, until: 'Running' });
  const servers = serversOf(running);
  const access = buildAccess(run.observed.cluster);
  await run.port.wait(`${summary} (introduced)`).meetValkeyNodes({ access, servers, starting: true });
}
