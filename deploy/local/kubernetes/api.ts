import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { parse } from 'yaml';

/** An object of the Kubernetes API, as far as the stack looks at it. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMetadata;
  readonly [field: string]: unknown;
}

/** The part of every object that is the same. */
export interface ObjectMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly deletionTimestamp?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
}

/** The API server refused a request. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
  }
}

const TIMEOUT_MS = 10_000;

/**
 * A few requests to the API server over plain HTTPS. The stack needs no more, and this starts in a
 * tenth of the time and memory of the full client.
 */
export class KubernetesApi {
  readonly #server: URL;
  readonly #token: string;
  readonly #agent: Agent;

  constructor(kubeconfigFile: string) {
    const config: unknown = parse(readFileSync(kubeconfigFile, 'utf8'));
    this.#server = new URL(readPath(config, 'clusters', 0, 'cluster', 'server'));
    this.#token = readPath(config, 'users', 0, 'user', 'token');
    const ca = readFileSync(readPath(config, 'clusters', 0, 'cluster', 'certificate-authority'));
    this.#agent = new Agent({ ca, keepAlive: true, maxSockets: 8 });
  }

  /** Sends a request and answers the object that comes back. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    contentType = 'application/json',
  ): Promise<unknown> {
    const response = await this.#open(method, path, body, contentType, TIMEOUT_MS);
    const text = await readAll(response);
    const status = response.statusCode ?? 0;
    if (status >= 200 && status <= 299) return text === '' ? undefined : JSON.parse(text);
    throw new ApiError(status, `${method} ${path}: ${describeStatus(text, status)}`);
  }

  /** Opens a watch, and hands each event over until the server ends it or the signal is given. */
  async watch(
    path: string,
    signal: AbortSignal,
    onEvent: (type: string, object: KubernetesObject) => void,
  ): Promise<void> {
    const response = await this.#open('GET', path, undefined, 'application/json', 0);
    if (response.statusCode !== 200)
      throw new ApiError(response.statusCode ?? 0, `GET ${path}: ${await readAll(response)}`);
    const stop = (): void => void response.destroy();
    signal.addEventListener('abort', stop, { once: true });
    try {
      let rest = '';
      for await (const chunk of response.setEncoding('utf8')) {
        const lines = (rest + String(chunk)).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines.filter((text) => text !== '')) {
          const event = JSON.parse(line) as { type: string; object: KubernetesObject };
          onEvent(event.type, event.object);
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** Lets go of the connections. */
  close(): void {
    this.#agent.destroy();
  }

  #open(
    method: string,
    path: string,
    body: unknown,
    contentType: string,
    timeout: number,
  ): Promise<IncomingMessage> {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${this.#token}`,
      accept: 'application/json',
      ...(payload === undefined
        ? {}
        : { 'content-type': contentType, 'content-length': Buffer.byteLength(payload) }),
    };
    return new Promise((resolve, reject) => {
      const call = request(
        new URL(path, this.#server),
        { method, headers, timeout, agent: this.#agent },
        resolve,
      );
      call.on('error', reject);
      call.on('timeout', () =>
        call.destroy(new Error(`${method} ${path} took longer than ${timeout / 1000} s`)),
      );
      call.end(payload);
    });
  }
}

async function readAll(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk);
  return text;
}

function describeStatus(text: string, status: number): string {
  try {
    return String(Reflect.get(Object(JSON.parse(text)), 'message') ?? status);
  } catch {
    return `${status} ${text}`; // Not a Status object: show what came.
  }
}

function readPath(value: unknown, ...path: readonly (string | number)[]): string {
  const found = path.reduce<unknown>((at, key) => Reflect.get(Object(at), key), value);
  if (typeof found !== 'string') throw new Error(`the kubeconfig has no ${path.join('.')}`);
  return found;
}
