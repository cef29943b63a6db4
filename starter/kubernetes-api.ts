import { HttpMethod, IsomorphicFetchHttpLibrary, RequestContext } from '@kubernetes/client-node';
import type { KubeConfig, ResponseContext } from '@kubernetes/client-node';
import { refusalOf } from './kubernetes-refusal.ts';

export interface KubernetesRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

export const APPLY_PATCH = 'application/apply-patch+yaml';
export const JSON_PATCH = 'application/json-patch+json';

/** The requests that the starter makes, each with a time limit, on the client's own authentication and transport. */
export class KubernetesApi {
  readonly #config: KubeConfig;
  readonly #http = new IsomorphicFetchHttpLibrary();

  constructor(config: KubeConfig) {
    this.#config = config;
  }

  /** One request and its whole answer. */
  async request(path: string, request: KubernetesRequest = {}): Promise<unknown> {
    const limit = AbortSignal.timeout(request.timeoutMs ?? 15_000);
    const signal = request.signal === undefined ? limit : AbortSignal.any([request.signal, limit]);
    const response = await this.#send(path, request, signal);
    const text = await response.body.text();
    const body = parseJson(text);
    if (response.httpStatusCode >= 300) throw refusalOf(response.httpStatusCode, body ?? text);
    return body;
  }

  /** A streamed answer, line by line; `heard` is called for every piece that arrives. It ends or throws with its signal. */
  async *lines(
    path: string,
    query: KubernetesRequest['query'],
    signal: AbortSignal,
    heard: () => void,
  ): AsyncGenerator<string> {
    const response = await this.#send(path, query === undefined ? {} : { query }, signal);
    if (response.httpStatusCode >= 300) {
      const text = await response.body.text();
      throw refusalOf(response.httpStatusCode, parseJson(text) ?? text);
    }
    const stream = response.body.stream();
    if (stream === null) return;
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of stream) {
      heard();
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) if (line !== '') yield line;
    }
  }

  async #send(path: string, request: KubernetesRequest, signal: AbortSignal): Promise<ResponseContext> {
    const cluster = this.#config.getCurrentCluster();
    if (cluster === null) throw new Error('The kubeconfig names no current cluster.');
    const context = new RequestContext(cluster.server + path, HttpMethod[request.method ?? 'GET']);
    for (const [name, value] of Object.entries(request.query ?? {}))
      if (value !== undefined) context.setQueryParam(name, value);
    context.setHeaderParam('Accept', 'application/json');
    if (request.body !== undefined) {
      context.setHeaderParam('Content-Type', request.contentType ?? 'application/json');
      context.setBody(JSON.stringify(request.body));
    }
    await this.#config.applySecurityAuthentication(context);
    context.setSignal(signal);
    return this.#http.send(context).toPromise();
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy on the way may answer in HTML: the caller then shows the text itself.
    return undefined;
  }
}
