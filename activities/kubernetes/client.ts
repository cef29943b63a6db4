import { KubeConfig } from '@kubernetes/client-node';
import { attemptSignal } from '../attempt.ts';
import { mutate, noMutationHook, type MutationHook } from '../mutations.ts';
import type { ObjectName } from './contract.ts';
import { asKubernetesFailure, isForbidden, isNotFound, KubernetesError } from './errors.ts';
import { createPaths } from './paths.ts';
import type { KubernetesList, KubernetesObject } from './objects.ts';
import { createTransport, errorOf, type Request } from './transport.ts';
import { openWatch, type WatchEvent } from './watch.ts';

/** Which objects of a kind are meant. */
export interface Selection {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** How an object is changed: `apply` server-side with the full intent of a manager, or by a patch. */
export interface Patch {
  readonly type: 'apply' | 'merge' | 'json';
  readonly body: unknown;
  readonly manager: string;
  readonly subresource?: 'status';
}

/** Which very object goes, and whether it stays until all that it owns is gone. */
export interface DeleteOptions {
  readonly uid: string;
  readonly foreground: boolean;
  readonly gracePeriodSeconds?: number;
}

/** The requests that the activities are made of: JSON in, JSON out, bounded in time, ended with the attempt. */
export interface KubernetesClient {
  read<T extends KubernetesObject>(name: ObjectName): Promise<T | null>;
  list<T extends KubernetesObject>(selection: Selection): Promise<KubernetesList<T>>;
  patch<T extends KubernetesObject>(name: ObjectName, patch: Patch): Promise<T>;
  create<T extends KubernetesObject>(name: ObjectName, body: unknown): Promise<T>;
  /** False when it is gone already. */
  delete(name: ObjectName, options: DeleteOptions): Promise<boolean>;
  /** Whether the API server has this kind at all. */
  has(apiVersion: string, kind: string): Promise<boolean>;
  watch<T extends KubernetesObject>(
    selection: Selection,
    resourceVersion: string,
    signal: AbortSignal,
  ): AsyncIterable<WatchEvent<T>>;
}

export interface KubernetesClientOptions {
  readonly requestTimeoutMs?: number;
  /** After so long the server ends a watch; one that is silent beyond it has died and is opened again. */
  readonly watchSeconds?: number;
  readonly hook?: MutationHook;
}

const CONTENT_TYPES = {
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
} as const;

const WATCH_SECONDS = 20;

/** The configuration of `KUBECONFIG`, of `~/.kube/config`, or of the pod that we run in. */
export function loadKubeConfig(): KubeConfig {
  const config = new KubeConfig();
  config.loadFromDefault();
  return config;
}

/** Opens nothing yet: connections are made by the first request. */
export function createKubernetesClient(
  config: KubeConfig,
  options: KubernetesClientOptions = {},
): KubernetesClient {
  const transport = createTransport(config);
  const hook = options.hook ?? noMutationHook;
  const timeoutMs = options.requestTimeoutMs ?? 10_000;
  const paths = createPaths((path) => request({ method: 'GET', path }));

  async function send(asked: Request): Promise<string> {
    const signal = AbortSignal.any([attemptSignal(), AbortSignal.timeout(timeoutMs)]);
    try {
      const response = await transport.send(asked, signal);
      if (response.httpStatusCode >= 300) throw await errorOf(response, asked);
      return await response.body.text();
    } catch (error) {
      if (error instanceof KubernetesError) throw error;
      if (isTimeout(error)) transport.reset();
      throw unanswered(asked, error);
    }
  }

  /** An API server that has just started refuses everybody until its roles are loaded: only a no after that counts. */
  async function request<T>(asked: Request): Promise<T> {
    try {
      return JSON.parse(await send(asked)) as T;
    } catch (error) {
      if (!isForbidden(error)) throw error;
      const unready = await send({ method: 'GET', path: '/readyz' }).then(
        () => null,
        (why: unknown) => unanswered(asked, why),
      );
      if (unready !== null) throw unready;
      return JSON.parse(await send(asked)) as T;
    }
  }

  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (attemptSignal().aborted) throw attemptSignal().reason;
      if (error instanceof KubernetesError) throw error;
      throw asKubernetesFailure(error);
    }
  };

  const change = <T>(verb: string, name: ObjectName, asked: Request): Promise<T> =>
    mutate(hook, { system: 'kubernetes', verb, target: `${name.kind}/${name.namespace}/${name.name}` }, () =>
      request<T>(asked),
    );

  return {
    read: (name) =>
      guarded(async () => {
        try {
          return await request({ method: 'GET', path: await paths.object(name) });
        } catch (error) {
          if (isNotFound(error)) return null;
          throw error;
        }
      }),
    list: (selection) =>
      guarded(async () =>
        request({ method: 'GET', path: await paths.kind(selection), query: queryOf(selection) }),
      ),
    patch: (name, patch) =>
      guarded(async () => {
        const path = await paths.object(name);
        return change(patch.type === 'apply' ? 'apply' : 'patch', name, {
          method: 'PATCH',
          path: patch.subresource === undefined ? path : `${path}/${patch.subresource}`,
          query: { fieldManager: patch.manager, ...(patch.type === 'apply' ? { force: 'true' } : {}) },
          contentType: CONTENT_TYPES[patch.type],
          body: patch.body,
        });
      }),
    create: (name, body) =>
      guarded(async () =>
        change('create', name, {
          method: 'POST',
          path: await paths.kind(name),
          query: { fieldManager: 'keelson' },
          body,
        }),
      ),
    delete: (name, { uid, foreground, gracePeriodSeconds }) =>
      guarded(async () => {
        const body = {
          preconditions: { uid },
          propagationPolicy: foreground ? 'Foreground' : 'Background',
          ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
        };
        try {
          await change('delete', name, { method: 'DELETE', path: await paths.object(name), body });
          return true;
        } catch (error) {
          if (isNotFound(error)) return false;
          throw error;
        }
      }),
    has: (apiVersion, kind) => guarded(() => paths.has(apiVersion, kind)),
    watch: (selection, resourceVersion, signal) =>
      openWatch(
        async (query, within) =>
          transport.send(
            { method: 'GET', path: await paths.kind(selection), query: { ...queryOf(selection), ...query } },
            within,
          ),
        {
          resourceVersion,
          seconds: options.watchSeconds ?? WATCH_SECONDS,
          signal,
          onSilence: () => transport.reset(),
        },
      ),
  };
}

const isTimeout = (error: unknown): boolean => error instanceof DOMException && error.name === 'TimeoutError';

function unanswered(asked: Request, error: unknown): Error {
  const why = error instanceof Error ? error : new Error(String(error));
  const words = why.cause instanceof Error ? why.cause.message : why.message;
  return new Error(`${asked.method} ${asked.path} got no answer: ${words}`, { cause: error });
}

const queryOf = (selection: Selection): Record<string, string | undefined> => ({
  labelSelector: selection.labelSelector,
  fieldSelector: selection.fieldSelector,
});
