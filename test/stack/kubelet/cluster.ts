import { vi } from 'vitest';
import type { Container, Pod, PodSpec } from '../../../deploy/local/kubelet/api/objects.ts';
import { ApiError, KubernetesApi, patchType } from '../../../deploy/local/kubernetes/api.ts';

/** The image that has nothing but the machine's own programs. */
export const SHELL = 'keelson/shell:1';
export const VALKEY = 'valkey/valkey:9.1.2';

const LIMIT_MS = 60_000;

/** How long tests wait for what must come, and how often they look. */
export const PATIENCE = { timeout: LIMIT_MS, interval: 100 };

/** The same for what is much work on a busy machine. */
export const LONG_PATIENCE = { timeout: 4 * LIMIT_MS, interval: 500 };

interface Event {
  readonly involvedObject: { readonly name: string };
  readonly reason: string;
  readonly message: string;
}

/** A namespace of a cluster, as tests see it. */
export class TestNamespace {
  readonly api: KubernetesApi;
  readonly name: string;

  constructor(kubeconfig: string, name: string) {
    this.api = new KubernetesApi(kubeconfig);
    this.name = name;
  }

  path(resource: string, name = ''): string {
    return `/api/v1/namespaces/${this.name}/${resource}${name === '' ? '' : `/${name}`}`;
  }

  appsPath(resource: string, name = ''): string {
    return `/apis/apps/v1/namespaces/${this.name}/${resource}${name === '' ? '' : `/${name}`}`;
  }

  async create(path: string, body: unknown): Promise<void> {
    await this.api.send('POST', path, body);
  }

  async patch(path: string, body: unknown): Promise<void> {
    await this.api.send('PATCH', path, body, patchType.strategic);
  }

  async createPod(name: string, spec: Partial<PodSpec>, metadata: object = {}): Promise<void> {
    const body = { metadata: { name, ...metadata }, spec: { terminationGracePeriodSeconds: 5, ...spec } };
    // The account of a new namespace comes a moment after the namespace.
    await vi.waitFor(() => this.create(this.path('pods'), body), PATIENCE);
  }

  async readPod(name: string): Promise<Pod | undefined> {
    return this.api.read<Pod>(this.path('pods', name));
  }

  async listPods(selector: string): Promise<readonly Pod[]> {
    const path = `${this.path('pods')}?labelSelector=${encodeURIComponent(selector)}`;
    return (await this.api.send<{ items: Pod[] }>('GET', path)).items;
  }

  async deletePod(name: string, body: object = {}): Promise<void> {
    await this.api.send('DELETE', this.path('pods', name), body);
  }

  /** How many pods of a label are ready, and how many there are. */
  async countPods(selector: string): Promise<{ ready: number; all: number }> {
    const pods = await this.listPods(selector);
    return { ready: pods.filter(isReady).length, all: pods.length };
  }

  /** The messages of all events about a pod that have this reason. */
  async readEvents(pod: string, reason: string): Promise<readonly string[]> {
    const { items } = await this.api.send<{ items: Event[] }>('GET', this.path('events'));
    return items
      .filter((event) => event.involvedObject.name === pod && event.reason === reason)
      .map((event) => event.message);
  }

  async readLog(pod: string, query = ''): Promise<string[]> {
    const lines: string[] = [];
    const path = `${this.path('pods', pod)}/log?${query}`;
    await this.api.follow(path, LIMIT_MS, new AbortController().signal, (line) => lines.push(line));
    return lines;
  }

  /** Asks for the eviction of a pod; false when a disruption budget forbids it. */
  async evict(name: string): Promise<boolean> {
    try {
      await this.create(`${this.path('pods', name)}/eviction`, { metadata: { name, namespace: this.name } });
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status === 429) return false;
      throw error;
    }
  }
}

export function isReady(pod: Pod | undefined): boolean {
  const ready = pod?.status?.conditions?.find((condition) => condition.type === 'Ready');
  return ready?.status === 'True' && pod?.metadata.deletionTimestamp === undefined;
}

/** A container that runs a shell script. */
export function shell(script: string, more: Partial<Container> = {}): Container {
  return { name: 'main', image: SHELL, command: ['sh', '-c', script], ...more };
}

/** A script that runs until it is told to stop, and then stops at once. */
export const UNTIL_STOPPED = "trap 'exit 0' TERM; while :; do sleep 1 & wait $!; done";

/** What the status of the main container looks like when it ended. */
export function terminated(state: object, more: object = {}): object {
  return { status: { containerStatuses: [{ state: { terminated: state }, ...more }] } };
}

/** What the status of the main container looks like while it waits. */
export function waits(reason: string, more: object = {}): object {
  return { status: { phase: 'Pending', containerStatuses: [{ state: { waiting: { reason, ...more } } }] } };
}
