import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from './api.ts';
import type { KubernetesApi } from './api.ts';

/** What happened to an object; `listed` ends a list, after which absent objects are known to be gone. */
export interface ReflectorHandler<T> {
  readonly changed: (object: T) => void;
  readonly removed: (object: T) => void;
  readonly listed?: () => void;
}

/** Any object that the API server has stored. */
export interface StoredObject {
  readonly metadata: { readonly uid: string; readonly resourceVersion?: string };
}

/** A watch is short, so that one which died in silence is noticed soon: its end is overdue. */
const watchSeconds = 60;
const idleMs = 75_000;
const retryFirstMs = 50;
const retryLastMs = 1_000;

/** A list followed by a watch, for as long as the process lives: resumed when it breaks, listed again when it expired. */
export class Reflector<T extends StoredObject> {
  readonly store = new Map<string, T>();
  private readonly api: KubernetesApi;
  private readonly path: string;
  private readonly selector: string;
  private readonly handler: ReflectorHandler<T>;
  private version: string | undefined;

  constructor(api: KubernetesApi, path: string, selector: string, handler: ReflectorHandler<T>) {
    this.api = api;
    this.path = path;
    this.selector = selector;
    this.handler = handler;
  }

  /** Runs until the signal; `onTrouble` hears of each failure, after which it goes on with back-off. */
  async run(signal: AbortSignal, onTrouble: (error: unknown) => void): Promise<void> {
    let waitMs = retryFirstMs;
    while (!signal.aborted) {
      try {
        if (this.version === undefined) await this.list();
        await this.watch(signal, () => (waitMs = retryFirstMs));
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ApiError && error.status === 410) this.version = undefined;
        else onTrouble(error);
        await delay(waitMs, undefined, { signal }).catch(() => undefined);
        waitMs = Math.min(waitMs * 2, retryLastMs);
      }
    }
  }

  private async list(): Promise<void> {
    const query = this.selector === '' ? '' : `?${this.selector}`;
    const answer = await this.api.send<{ metadata: { resourceVersion: string }; items: T[] }>(
      'GET',
      `${this.path}${query}`,
    );
    const present = new Set(answer.items.map((item) => item.metadata.uid));
    for (const old of this.store.values()) if (!present.has(old.metadata.uid)) this.remove(old);
    for (const item of answer.items) this.change(item);
    this.version = answer.metadata.resourceVersion;
    this.handler.listed?.();
  }

  private async watch(signal: AbortSignal, onProgress: () => void): Promise<void> {
    const parameters = [
      'watch=1',
      'allowWatchBookmarks=true',
      `timeoutSeconds=${watchSeconds}`,
      `resourceVersion=${this.version ?? ''}`,
      ...(this.selector === '' ? [] : [this.selector]),
    ];
    const accept = (type: string, object: unknown): void => {
      this.accept(type, object as T);
      onProgress();
    };
    await this.api.watch(`${this.path}?${parameters.join('&')}`, signal, accept, idleMs);
  }

  private accept(type: string, object: T): void {
    if (type === 'ADDED' || type === 'MODIFIED') this.change(object);
    if (type === 'DELETED') this.remove(object);
    this.version = object.metadata.resourceVersion;
  }

  private change(object: T): void {
    this.store.set(object.metadata.uid, object);
    this.handler.changed(object);
  }

  private remove(object: T): void {
    this.store.delete(object.metadata.uid);
    this.handler.removed(object);
  }
}
