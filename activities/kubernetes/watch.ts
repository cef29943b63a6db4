import type { ResponseContext } from '@kubernetes/client-node';
import { KubernetesError } from './errors.ts';
import type { KubernetesObject } from './objects.ts';

/** One line of a watch. */
export interface WatchEvent<T extends KubernetesObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

type Open = (query: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<ResponseContext>;

/** The server ends a watch by itself after this long, so that a connection that died silently cannot hold us longer. */
const WATCH_SECONDS = 20;
const SILENCE_MS = (WATCH_SECONDS + 5) * 1_000;

/** Yields what happens after the version, until the server ends it; whoever watches then lists again. */
export async function* openWatch<T extends KubernetesObject>(
  open: Open,
  resourceVersion: string,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>> {
  const query = {
    watch: 'true',
    resourceVersion,
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(WATCH_SECONDS),
  };
  const within = AbortSignal.any([signal, AbortSignal.timeout(SILENCE_MS)]);
  const response = await open(query, within);
  if (response.httpStatusCode >= 300)
    throw new KubernetesError(response.httpStatusCode, '', await response.body.text(), 'WATCH');
  const stream = response.body.stream();
  if (stream === null) return;
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield eventOf<T>(line);
  }
}

function eventOf<T extends KubernetesObject>(line: string): WatchEvent<T> {
  const event = JSON.parse(line) as
    | WatchEvent<T>
    | { type: 'ERROR'; object: { code?: number; message?: string; reason?: string } };
  if (event.type !== 'ERROR') return event;
  const { code, reason, message } = event.object;
  throw new KubernetesError(code ?? 500, reason ?? '', message ?? 'the watch failed', 'WATCH');
}
