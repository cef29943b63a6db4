import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionOptions } from 'node:tls';
import { Client, Connection } from '@temporalio/client';
import { ApiError, KubernetesApi, type KubernetesObject } from '../../deploy/local/kubernetes/api.ts';
import type { NamespaceHandle, StackHandle } from '../../deploy/local/testing.ts';
import { entityId } from '../../workflows/shared/messages.ts';
import { API_GROUP, API_VERSION, KIND, podSelector } from '../../workflows/valkey-cluster/domain/names.ts';

const LOOK_MS = 100;
const LIMIT_SECONDS = 180;

/** The resource as tests read it. */
export interface ClusterSeen extends KubernetesObject {
  readonly metadata: KubernetesObject['metadata'] & { readonly generation?: number };
  readonly status?: {
    readonly phase?: string;
    readonly message?: string;
    readonly observedGeneration?: number;
    readonly assignedSlots?: number;
    readonly rebalancedFor?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
  };
}

/** What one look found, or what it missed. */
export type Look<T> = { readonly found: T } | { readonly missing: string };

/** One ValkeyCluster in a namespace of its own, as a user with kubectl and the Temporal CLI would handle it. */
export class ClusterWorld {
  readonly stack: StackHandle;
  readonly namespace: string;
  readonly name: string;
  /** What its clients log in with. */
  password = randomBytes(12).toString('hex');
  /** How its clients check its servers, when they speak TLS. */
  tls: ConnectionOptions | null = null;
  readonly api: KubernetesApi;
  readonly #handle: NamespaceHandle;
  #temporal: Promise<Client> | null = null;

  private constructor(stack: StackHandle, handle: NamespaceHandle, name: string) {
    this.stack = stack;
    this.#handle = handle;
    this.namespace = handle.name;
    this.name = name;
    this.api = new KubernetesApi(stack.kubeconfig('admin'));
  }

  static async create(stack: StackHandle, name = 'cache'): Promise<ClusterWorld> {
    return new ClusterWorld(stack, await stack.createNamespace('valkey'), name);
  }

  get ref(): { readonly namespace: string; readonly name: string } {
    return { namespace: this.namespace, name: this.name };
  }

  get entityId(): string {
    return entityId('valkey-cluster', this.ref);
  }

  /** A client of the Temporal server, connected once. */
  temporal(): Promise<Client> {
    this.#temporal ??= Connection.connect({ address: this.stack.temporalAddress }).then(
      (connection) => new Client({ connection }),
    );
    return this.#temporal;
  }

  /** Creates or changes the resource as `kubectl apply --server-side` does. */
  async apply(spec: Readonly<Record<string, unknown>>): Promise<ClusterSeen> {
    const body = {
      apiVersion: API_VERSION,
      kind: KIND,
      metadata: { name: this.name, namespace: this.namespace },
      spec,
    };
    const path = `${this.#path(this.name)}?fieldManager=test&force=true`;
    return (await this.api.send('PATCH', path, body, 'application/apply-patch+yaml')) as ClusterSeen;
  }

  /** A small spec on small volumes; auth by a Secret that is created with it. */
  async applyWithSecret(spec: Readonly<Record<string, unknown>> = {}): Promise<ClusterSeen> {
    await this.createSecret();
    return this.apply({
      auth: { secretRef: { name: 'cache-auth' } },
      persistence: { size: '64Mi' },
      ...spec,
    });
  }

  /** Sets an annotation as `kubectl annotate` does. */
  async annotate(name: string, value: string): Promise<void> {
    const body = { metadata: { annotations: { [name]: value } } };
    await this.api.send('PATCH', this.#path(this.name), body, 'application/merge-patch+json');
  }

  async createSecret(): Promise<void> {
    await this.api.send('POST', `/api/v1/namespaces/${this.namespace}/secrets`, {
      metadata: { name: 'cache-auth' },
      stringData: { password: this.password },
    });
  }

  /** Changes a Secret as `kubectl patch` does. */
  async writeSecret(name: string, stringData: Readonly<Record<string, string>>): Promise<void> {
    const path = `/api/v1/namespaces/${this.namespace}/secrets/${name}`;
    await this.api.send('PATCH', path, { stringData }, 'application/merge-patch+json');
  }

  async read(): Promise<ClusterSeen | null> {
    try {
      return (await this.api.send('GET', this.#path(this.name))) as ClusterSeen;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    }
  }

  async delete(): Promise<void> {
    await this.api.send('DELETE', this.#path(this.name));
  }

  /** The objects of a namespaced type that carry the cluster's label. */
  async list(
    type:
      | 'pods'
      | 'persistentvolumeclaims'
      | 'services'
      | 'configmaps'
      | 'statefulsets'
      | 'poddisruptionbudgets',
  ): Promise<readonly KubernetesObject[]> {
    const group =
      type === 'statefulsets'
        ? 'apis/apps/v1'
        : type === 'poddisruptionbudgets'
          ? 'apis/policy/v1'
          : 'api/v1';
    const path = `/${group}/namespaces/${this.namespace}/${type}?labelSelector=${encodeURIComponent(podSelector(this.name))}`;
    return (await this.api.send<{ items: KubernetesObject[] }>('GET', path)).items;
  }

  /** Waits until the resource says so; what it said last is in the error. */
  async awaitPhase(phase: string, seconds = LIMIT_SECONDS): Promise<ClusterSeen> {
    return this.until(async () => {
      const seen = await this.read();
      const settled =
        seen?.status?.phase === phase && seen.status.observedGeneration === seen.metadata.generation;
      return settled
        ? { found: seen }
        : { missing: `phase ${phase}; it says ${JSON.stringify(seen?.status ?? null)}` };
    }, seconds);
  }

  async awaitGone(seconds = LIMIT_SECONDS): Promise<void> {
    await this.until(async () => {
      const seen = await this.read();
      return seen === null
        ? { found: true }
        : { missing: `the resource to be gone, it says ${JSON.stringify(seen.status)}` };
    }, seconds);
  }

  /** Looks until the look finds something. */
  async until<T>(look: () => Promise<Look<T>>, seconds = LIMIT_SECONDS): Promise<T> {
    const endMs = Date.now() + seconds * 1000;
    for (;;) {
      const seen = await look();
      if ('found' in seen) return seen.found;
      if (Date.now() > endMs) throw new Error(`waited ${seconds} s for ${seen.missing}`);
      await sleep(LOOK_MS);
    }
  }

  /** Takes everything away: the resource through its own deletion, then the namespace. */
  async remove(): Promise<void> {
    try {
      if ((await this.read()) !== null) {
        await this.delete();
        await this.awaitGone();
      }
      await this.#handle.remove();
    } finally {
      await this.#closeConnections();
    }
  }

  async #closeConnections(): Promise<void> {
    this.api.close();
    if (this.#temporal !== null) await (await this.#temporal).connection.close();
  }

  #path(name: string): string {
    return `/apis/${API_GROUP}/v1alpha1/namespaces/${this.namespace}/valkeyclusters/${name}`;
  }
}
