import { randomUUID } from 'node:crypto';
import { ApiError, patchType } from '../../kubernetes/api.ts';
import type { KubernetesApi } from '../../kubernetes/api.ts';
import type { ObjectMeta } from '../api/objects.ts';
import { formatTime } from '../pod/record.ts';

/** One thing that a node says about a pod. */
export interface PodEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** The container that it is about, as a field path, e.g. `spec.containers{main}`. */
  readonly fieldPath?: string;
}

interface Series {
  readonly path: string;
  count: number;
  timer: NodeJS.Timeout | undefined;
}

const repeatMs = 5_000;
const seriesLimit = 2_000;

/** Writes events; one that repeats raises the count of the first, at most every few seconds. */
export class EventRecorder {
  private readonly api: KubernetesApi;
  private readonly onTrouble: (error: unknown) => void;
  private readonly series = new Map<string, Series>();

  constructor(api: KubernetesApi, onTrouble: (error: unknown) => void) {
    this.api = api;
    this.onTrouble = onTrouble;
  }

  /** Records an event about a pod on a node. An event that cannot be written is reported and dropped, as kubelets do. */
  record(node: string, pod: ObjectMeta, event: PodEvent): void {
    const key = [pod.uid, event.reason, event.fieldPath, event.message].join('|');
    const known = this.series.get(key);
    if (known === undefined) void this.create(key, node, pod, event);
    else this.repeat(known);
  }

  private async create(key: string, node: string, pod: ObjectMeta, event: PodEvent): Promise<void> {
    const name = `${pod.name}.${randomUUID().slice(0, 13)}`;
    const base = `/api/v1/namespaces/${pod.namespace}/events`;
    if (this.series.size >= seriesLimit) this.series.clear();
    this.series.set(key, { path: `${base}/${name}`, count: 1, timer: undefined });
    const now = formatTime(Date.now());
    const involvedObject = {
      kind: 'Pod',
      apiVersion: 'v1',
      namespace: pod.namespace,
      name: pod.name,
      uid: pod.uid,
      ...(event.fieldPath === undefined ? {} : { fieldPath: event.fieldPath }),
    };
    const body = {
      metadata: { name, namespace: pod.namespace },
      involvedObject,
      type: event.type,
      reason: event.reason,
      message: event.message.slice(0, 1024),
      source: { component: 'kubelet', host: node },
      reportingComponent: 'kubelet',
      reportingInstance: node,
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    };
    await this.api.send('POST', base, body).catch((error: unknown) => {
      this.series.delete(key);
      this.complain(error);
    });
  }

  private repeat(series: Series): void {
    series.count += 1;
    if (series.timer !== undefined) return;
    series.timer = setTimeout(() => {
      series.timer = undefined;
      const body = { count: series.count, lastTimestamp: formatTime(Date.now()) };
      this.api
        .send('PATCH', series.path, body, patchType.merge)
        .catch((error: unknown) => this.complain(error));
    }, repeatMs);
    series.timer.unref();
  }

  /** A namespace that is going away takes no events any more, and that is no trouble. */
  private complain(error: unknown): void {
    const isGoing = error instanceof ApiError && (error.status === 403 || error.status === 404);
    if (!isGoing) this.onTrouble(error);
  }
}
