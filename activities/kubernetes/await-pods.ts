import { attemptSignal, reportProgress, rest } from '../attempt.ts';
import type { KubernetesClient, Selection } from './client.ts';
import type { KubernetesActivities, PodSeen } from './contract.ts';
import type { Pod } from './objects.ts';
import { isRunning, podSeen } from './pod-state.ts';

const RELIST_AFTER_MS = 200;

/** Lists, then watches, so that the last pod's Ready is noticed at once; lists again whenever the watch ends. */
export async function awaitPods(
  client: KubernetesClient,
  input: Parameters<KubernetesActivities['awaitKubernetesPods']>[0],
): Promise<readonly PodSeen[]> {
  const signal = attemptSignal();
  const selection = {
    apiVersion: 'v1',
    kind: 'Pod',
    namespace: input.namespace,
    labelSelector: input.selector,
  };
  for (;;) {
    const seen = await watchPods(client, selection, input, signal);
    if (seen !== null) return seen;
    await rest(RELIST_AFTER_MS);
  }
}

/** Null when the watch ended before the pods were ready. */
async function watchPods(
  client: KubernetesClient,
  selection: Selection,
  { count, until }: { readonly count: number; readonly until?: 'Running' },
  signal: AbortSignal,
): Promise<readonly PodSeen[] | null> {
  const list = await client.list<Pod>(selection);
  const pods = new Map(list.items.map((pod) => [pod.metadata.name, pod]));
  const judge = (): readonly PodSeen[] | null => {
    const seen = [...pods.values()].map(podSeen).sort((a, b) => (a.name < b.name ? -1 : 1));
    const far = until === 'Running' ? [...pods.values()].every(isRunning) : seen.every((pod) => pod.ready);
    if (seen.length === count && far) return seen;
    reportProgress(describePods(seen, count));
    return null;
  };
  const atOnce = judge();
  if (atOnce !== null) return atOnce;

  const ended = new AbortController();
  const within = AbortSignal.any([signal, ended.signal]);
  try {
    for await (const event of client.watch<Pod>(selection, list.metadata.resourceVersion, within)) {
      if (event.type === 'BOOKMARK') continue;
      if (event.type === 'DELETED') pods.delete(event.object.metadata.name);
      else pods.set(event.object.metadata.name, event.object);
      const seen = judge();
      if (seen !== null) return seen;
    }
  } catch {
    signal.throwIfAborted(); // Any other end of a watch is answered by the next list, which fails if it must.
  } finally {
    ended.abort();
  }
  return null;
}

/** `4 of 6 pods are Ready; cache-1-0: ErrImagePull: …`, short enough to read. */
export function describePods(pods: readonly PodSeen[], count: number): string {
  const ready = pods.filter((pod) => pod.ready).length;
  const held = pods.filter((pod) => !pod.ready && pod.waiting !== null);
  const words = held.slice(0, 3).map((pod) => `${pod.name}: ${pod.waiting}`);
  const more = held.length > 3 ? [`and ${held.length - 3} more`] : [];
  const surplus = pods.length > count ? [`${pods.length - count} more than wanted are still there`] : [];
  return [`${ready} of ${count} pods are Ready`, ...surplus, ...words, ...more].join('; ');
}
