import { Agent, request as httpsRequest } from 'node:https';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import type { Connection } from './kubeconfig.ts';

/** An answer of the API server other than success. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
  }
}

/** Content types of the patches that a node sends. */
export const patchType = {
  strategic: 'application/strategic-merge-patch+json',
  merge: 'application/merge-patch+json',
} as const;

const requestTimeoutMs = 10_000;

/** Plain HTTP to the API server: every request has a time-out, every watch an owner that can abort it. */
export class ApiClient {
  readonly connection: Connection;
  private readonly requests: Agent | HttpAgent;
  private readonly streams: Agent | HttpAgent;

  /** Requests beyond so many at a time wait for each other, so that what must not wait has a client of its own. */
  constructor(connection: Connection, concurrency = 24) {
    this.connection = connection;
    const secure = connection.server.protocol === 'https:';
    this.requests = createAgent(secure, { keepAlive: true, maxSockets: concurrency });
    this.streams = createAgent(secure, { keepAlive: false });
  }

  /** Reads one object, or undefined when there is none. */
  async read<T>(path: string): Promise<T | undefined> {
    try {
      return await this.send<T>('GET', path);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Sends one request and parses the answer. */
  async send<T>(method: string, path: string, body?: unknown, contentType = 'application/json'): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const request = this.open(method, path, this.requests, contentType, (response) => {
      collect(response).then((text) => {
        const status = response.statusCode ?? 0;
        if (status >= 200 && status < 300) resolve(JSON.parse(text) as T);
        else reject(new ApiError(status, `${method} ${path}: ${status} ${messageOf(text)}`));
      }, reject);
    });
    request.setTimeout(requestTimeoutMs, () => request.destroy(new Error(`${method} ${path}: no answer`)));
    request.on('error', reject);
    if (body !== undefined) {
      const content = Buffer.from(JSON.stringify(body));
      // Without a length the body of a DELETE is sent as if it were the next request.
      request.setHeader('content-length', content.length);
      request.write(content);
    }
    request.end();
    return promise;
  }

  /** Follows a watch; resolves when the server ends it, rejects when it breaks or stays silent for too long. */
  async follow(
    path: string,
    idleMs: number,
    signal: AbortSignal,
    onLine: (line: string) => void,
  ): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const request = this.open('GET', path, this.streams, undefined, (response) => {
      if (response.statusCode !== 200) {
        collect(response).then((text) => {
          reject(new ApiError(response.statusCode ?? 0, `watch ${path}: ${messageOf(text)}`));
        }, reject);
        return;
      }
      const lines = createInterface({ input: response });
      lines.on('line', (line) => {
        try {
          onLine(line);
        } catch (error) {
          reject(error);
          request.destroy();
        }
      });
      lines.on('error', reject);
      response.on('error', reject);
      lines.on('close', () => {
        if (response.complete) resolve();
        else reject(new Error(`watch ${path}: the connection broke`));
      });
    });
    request.setTimeout(idleMs, () => request.destroy(new Error(`watch ${path}: silent for ${idleMs} ms`)));
    request.on('error', reject);
    const abort = (): void => void request.destroy(new Error('stopped'));
    signal.addEventListener('abort', abort, { once: true });
    request.end();
    return promise.finally(() => signal.removeEventListener('abort', abort));
  }

  /** Closes idle connections so that the process can end. */
  close(): void {
    this.requests.destroy();
    this.streams.destroy();
  }

  private open(
    method: string,
    path: string,
    agent: Agent | HttpAgent,
    contentType: string | undefined,
    onResponse: (response: IncomingMessage) => void,
  ): ClientRequest {
    const { server, ca, cert, key, token, insecure } = this.connection;
    const headers: Record<string, string> = { accept: 'application/json', 'user-agent': 'keelson-kubelet' };
    if (contentType !== undefined) headers['content-type'] = contentType;
    if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
    const options = { method, agent, headers, path: `${server.pathname.replace(/\/$/, '')}${path}` };
    const target = { host: server.hostname, port: server.port };
    if (server.protocol !== 'https:') return httpRequest({ ...options, ...target }, onResponse);
    const tls = { ca, cert, key, rejectUnauthorized: !insecure };
    return httpsRequest({ ...options, ...target, ...tls }, onResponse);
  }
}

function createAgent(
  secure: boolean,
  options: { keepAlive: boolean; maxSockets?: number },
): Agent | HttpAgent {
  return secure ? new Agent(options) : new HttpAgent(options);
}

async function collect(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text;
  } catch {
    return text;
  }
}
