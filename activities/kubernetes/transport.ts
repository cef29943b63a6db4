import {
  HttpMethod,
  IsomorphicFetchHttpLibrary,
  RequestContext,
  type KubeConfig,
  type ResponseContext,
} from '@kubernetes/client-node';
import { KubernetesError } from './errors.ts';

/** One request as the API server gets it. */
export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly contentType?: string;
  readonly body?: unknown;
}

type Dispatcher = NonNullable<ReturnType<RequestContext['getDispatcher']>>;

export interface Transport {
  /** Sends a request and answers once its headers are there. */
  send(request: Request, signal: AbortSignal): Promise<ResponseContext>;
  /** Gives the kept connections up: one that died silently would swallow every further request. */
  reset(): void;
}

/** How long connections are kept before client certificates and authorities are read again. */
const CONNECTIONS_FOR_MS = 600_000;

/**
 * Authenticated requests over kept connections. The client library opens a new TLS connection for each request,
 * which costs more than the request itself, so the connections of the first one are used again.
 */
export function createTransport(config: KubeConfig): Transport {
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error('the kubeconfig has no current cluster');
  const { server } = cluster;
  const http = new IsomorphicFetchHttpLibrary();
  let kept: { readonly dispatcher: Dispatcher; readonly sinceMs: number } | null = null;

  async function send(request: Request, signal: AbortSignal): Promise<ResponseContext> {
    const context = new RequestContext(urlOf(server, request), HttpMethod[request.method]);
    context.setHeaderParam('Accept', 'application/json');
    context.setHeaderParam('User-Agent', 'keelson');
    if (request.body !== undefined) {
      context.setHeaderParam('Content-Type', request.contentType ?? 'application/json');
      context.setBody(JSON.stringify(request.body));
    }
    await config.applySecurityAuthentication(context);
    const fresh = context.getDispatcher();
    if (fresh !== undefined && (kept === null || Date.now() - kept.sinceMs > CONNECTIONS_FOR_MS)) {
      void kept?.dispatcher.close();
      kept = { dispatcher: fresh, sinceMs: Date.now() };
    }
    if (kept !== null) context.setDispatcher(kept.dispatcher);
    context.setSignal(signal);
    return http.send(context).toPromise();
  }

  return {
    send,
    reset() {
      // Whatever else waits on these connections fails as unavailable, which is what it is.
      void kept?.dispatcher.destroy();
      kept = null;
    },
  };
}

function urlOf(server: string, request: Request): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(request.query ?? {}))
    if (value !== undefined) query.set(key, value);
  const search = query.toString();
  return `${server.replace(/\/$/, '')}${request.path}${search === '' ? '' : `?${search}`}`;
}

/** The error that an answer stands for. */
export async function errorOf(response: ResponseContext, request: Request): Promise<KubernetesError> {
  const text = await response.body.text();
  const status = parseStatus(text);
  return new KubernetesError(
    response.httpStatusCode,
    status.reason ?? '',
    status.message ?? (text.trim() || `HTTP ${response.httpStatusCode}`),
    `${request.method} ${request.path}`,
  );
}

function parseStatus(text: string): { readonly reason?: string; readonly message?: string } {
  try {
    return JSON.parse(text) as { reason?: string; message?: string };
  } catch {
    return {}; // Proxies in between answer in HTML: the text itself is the message then.
  }
}
