import { setTimeout as sleep } from 'node:timers/promises';
import { backOffMs } from './back-off.ts';
import type { BackOff } from './back-off.ts';
import type { KubernetesApi } from './kubernetes-api.ts';
import { isRefusal, refusalOf } from './kubernetes-refusal.ts';
import { fieldOf, textOf } from './object-field.ts';
import type { KubernetesObject } from './watch-definition.ts';

/** What an informer tells of an object: what it is now and was before, or that it is gone. */
export type Change<S> =
  | { readonly is: 'seen'; readonly now: S; readonly before: S | null; readonly resync: boolean }
  | { readonly is: 'gone'; readonly before: S };

export interface InformerTimes {
  /** A full list at least this often. */
  readonly resyncMs: number;
  /** How long one list request may take. */
  readonly requestMs: number;
  /** After this long the server ends a watch by itself, with a bookmark before it: so an idle watch gives a sign. */
  readonly watchMs: number;
  /** A watch without any sign for this long is dead, whatever its connection says. Longer than `watchMs`. */
  readonly idleMs: number;
  readonly backOff: BackOff;
}

/** With these a watch that silently stops is noticed and reopened after 50 s. */
export const INFORMER_TIMES: InformerTimes = {
  resyncMs: 600_000,
  requestMs: 30_000,
  watchMs: 40_000,
  idleMs: 50_000,
  backOff: { firstMs: 500, limitMs: 30_000 },
};

/** A watch lasts a second at least, by its own time-out. */
const SHORTEST_WATCH_MS = 500;

/** `absent` means that the API server does not know the type; `failing`, that it is asked again and again. */
export type InformerState = 'starting' | 'absent' | 'failing' | 'synced';

export interface InformerOptions<S> {
  readonly api: KubernetesApi;
  readonly path: string;
  readonly labelSelector?: string;
  /** Reduces an object to what is remembered of it. */
  readonly project: (object: KubernetesObject) => S;
  readonly changed: (change: Change<S>) => void;
  /** Told of everything that went wrong; the informer itself goes on. */
  readonly failed: (what: 'list' | 'watch' | 'stalled' | 'object' | 'handler', error: unknown) => void;
  readonly times?: InformerTimes;
}

class WatchStalled extends Error {}

/** Lists and watches one type of object for ever: whatever fails is reported and tried again, nothing throws out of it. */
export class Informer<S> {
  readonly #options: InformerOptions<S>;
  readonly #times: InformerTimes;
  #known = new Map<string, S>();
  #state: InformerState = 'starting';
  #failures = 0;

  constructor(options: InformerOptions<S>) {
    this.#options = options;
    this.#times = options.times ?? INFORMER_TIMES;
  }

  get state(): InformerState {
    return this.#state;
  }

  /** Everything that is known now. */
  get known(): readonly S[] {
    return [...this.#known.values()];
  }

  /** One object, if it is known. */
  find(namespace: string, name: string): S | null {
    return this.#known.get(`${namespace}/${name}`) ?? null;
  }

  /** Runs until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const version = await this.#list(signal);
        this.#state = 'synced';
        this.#failures = 0;
        await this.#watchUntilResync(version, signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#state = isRefusal(error, 404) ? 'absent' : 'failing';
        this.#options.failed('list', error);
        await this.#pause(signal);
      }
    }
  }

  /** Reads everything in pages, tells what changed and what is gone, and answers the version to watch from. */
  async #list(signal: AbortSignal): Promise<string> {
    const found = new Map<string, S>();
    let page: string | null = null;
    let version = '';
    do {
      const answer = await this.#options.api.request(this.#options.path, {
        query: {
          limit: '500',
          continue: page ?? undefined,
          labelSelector: this.#options.labelSelector,
        },
        signal,
        timeoutMs: this.#times.requestMs,
      });
      const items = fieldOf(answer, 'items');
      version = textOf(fieldOf(answer, 'metadata'), 'resourceVersion') ?? '';
      // Whatever a proxy on the way made up must not look as if everything were gone.
      if (!Array.isArray(items) || version === '') throw new Error('the answer is no list of objects');
      for (const item of items) this.#rememberOrKeep(found, item);
      page = textOf(fieldOf(answer, 'metadata'), 'continue');
    } while (page !== null);
    const before = this.#known;
    this.#known = found;
    for (const [key, now] of found)
      this.#tell({ is: 'seen', now, before: before.get(key) ?? null, resync: true });
    for (const [key, old] of before) if (!found.has(key)) this.#tell({ is: 'gone', before: old });
    return version;
  }

  async #watchUntilResync(fromVersion: string, signal: AbortSignal): Promise<void> {
    const resyncAtMs = Date.now() + this.#times.resyncMs;
    let version = fromVersion;
    while (!signal.aborted && Date.now() < resyncAtMs) {
      const openedAtMs = Date.now();
      let heard = false;
      try {
        for await (const event of this.#watch(version, Math.max(resyncAtMs - Date.now(), 1_000), signal)) {
          version = this.#receive(event) ?? version;
          this.#failures = 0;
          heard = true;
        }
        if (heard || Date.now() - openedAtMs >= SHORTEST_WATCH_MS) continue;
        // Something on the way answers in the API server's place: asked without a pause, it would be asked without end.
        throw new Error('the watch ended as soon as it was opened');
      } catch (error) {
        if (signal.aborted || isRefusal(error, 410)) return;
        this.#options.failed(error instanceof WatchStalled ? 'stalled' : 'watch', error);
        // A stalled connection is simply opened anew; only a server that refuses is given time.
        if (!(error instanceof WatchStalled)) await this.#pause(signal);
        if (this.#failures > 5) return;
      }
    }
  }

  /** One watch request with its watchdog. */
  async *#watch(version: string, lastsMs: number, signal: AbortSignal): AsyncGenerator {
    const watchdog = new AbortController();
    const bark = (): void => {
      watchdog.abort(new WatchStalled(`no event and no bookmark for ${this.#times.idleMs / 1000} s`));
    };
    const timer = setTimeout(bark, this.#times.idleMs);
    try {
      const lines = this.#options.api.lines(
        this.#options.path,
        {
          watch: 'true',
          allowWatchBookmarks: 'true',
          resourceVersion: version,
          timeoutSeconds: String(Math.ceil(Math.min(this.#times.watchMs, lastsMs) / 1000)),
          labelSelector: this.#options.labelSelector,
        },
        AbortSignal.any([signal, watchdog.signal]),
        () => timer.refresh(),
      );
      for await (const line of lines) yield JSON.parse(line) as unknown;
    } catch (error) {
      throw watchdog.signal.aborted ? watchdog.signal.reason : error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Takes one event in, and answers the version that it brings. */
  #receive(event: unknown): string | null {
    const object = fieldOf(event, 'object');
    const type = fieldOf(event, 'type');
    if (type === 'ERROR') {
      const code = fieldOf(object, 'code');
      throw refusalOf(typeof code === 'number' ? code : 500, object);
    }
    const version = textOf(fieldOf(object, 'metadata'), 'resourceVersion');
    if (type === 'DELETED') this.#forget(object);
    if (type === 'ADDED' || type === 'MODIFIED') {
      const known = this.#known;
      const before = known.get(keyOf(object)) ?? null;
      const now = this.#remember(known, object);
      if (now !== null) this.#tell({ is: 'seen', now, before, resync: false });
    }
    return version;
  }

  /** An object that cannot be read any more is not gone: what was known of it stays. */
  #rememberOrKeep(into: Map<string, S>, object: unknown): void {
    const before = this.#known.get(keyOf(object));
    if (this.#remember(into, object) === null && before !== undefined) into.set(keyOf(object), before);
  }

  #remember(into: Map<string, S>, object: unknown): S | null {
    try {
      const now = this.#options.project(Object(object) as KubernetesObject);
      into.set(keyOf(object), now);
      return now;
    } catch (error) {
      this.#options.failed('object', error);
      return null;
    }
  }

  #forget(object: unknown): void {
    const before = this.#known.get(keyOf(object));
    this.#known.delete(keyOf(object));
    if (before !== undefined) this.#tell({ is: 'gone', before });
  }

  #tell(change: Change<S>): void {
    try {
      this.#options.changed(change);
    } catch (error) {
      this.#options.failed('handler', error);
    }
  }

  async #pause(signal: AbortSignal): Promise<void> {
    this.#failures += 1;
    const waitMs = backOffMs(this.#times.backOff, this.#failures, Math.random());
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
  }
}

const keyOf = (object: unknown): string => {
  const metadata = fieldOf(object, 'metadata');
  return `${textOf(metadata, 'namespace') ?? ''}/${textOf(metadata, 'name') ?? ''}`;
};
