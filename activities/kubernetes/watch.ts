import type { ResponseContext } from '@kubernetes/client-node';
import { KubernetesError } from './errors.ts';
import type { KubernetesObject } from './objects.ts';

/** One line of a watch. */
export interface WatchEvent<T extends KubernetesObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

type Open = (query: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<ResponseContext>;

/** How much longer than the server a silent watch is waited for. */
const SILENCE_MS = 3_000;

/** From where on, for how long, and whom to tell of a connection that died silently. */
export interface WatchFrom {
  readonly resourceVersion: string;
  readonly seconds: number;
  readonly signal: AbortSignal;
  onSilence(): void;
}

/** Yields what happens after the version, until the server ends it; whoever watches then lists again. */
export async function* openWatch<T extends KubernetesObject>(
  open: Open,
  from: WatchFrom,
): AsyncGenerator<WatchEvent<T>> {
  const query = {
    watch: 'true',
    resourceVersion: from.resourceVersion,
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(from.seconds),
  };
  const silence = AbortSignal.timeout(from.seconds * 1_000 + SILENCE_MS);
  try {
    const response = await open(query, AbortSignal.any([from.signal, silence]));
    if (response.httpStatusCode >= 300)
      throw new KubernetesError(response.httpStatusCode, '', await response.body.text(), 'WATCH');
    for await (const line of linesOf(response.body.stream())) yield eventOf<T>(line);
  } catch (error) {
    if (silence.aborted) from.onSilence();
    throw error;
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<string> {
  if (stream === null) return;
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield line;
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
