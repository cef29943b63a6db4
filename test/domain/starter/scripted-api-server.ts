import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import { KubernetesApi } from '../../../starter/kubernetes-api.ts';

/** An answer to one request: a status with a body, or lines of a stream that ends, or that stays open. */
export type Answer =
  | { readonly status: number; readonly body: unknown }
  | { readonly lines: readonly unknown[]; readonly open?: boolean };

/** A server on loopback that gives the answers of a script, one after the other, and then keeps watches open. */
export class ScriptedApiServer implements AsyncDisposable {
  readonly asked: URLSearchParams[] = [];
  readonly #server: Server;
  readonly #answers: Answer[];

  private constructor(answers: readonly Answer[]) {
    this.#answers = [...answers];
    this.#server = createServer((request, response) => {
      this.asked.push(new URL(request.url ?? '/', 'http://localhost').searchParams);
      give(response, this.#answers.shift() ?? { lines: [], open: true });
    });
  }

  static async start(...answers: readonly Answer[]): Promise<ScriptedApiServer> {
    const one = new ScriptedApiServer(answers);
    await new Promise<void>((resolve) => {
      one.#server.listen(0, '127.0.0.1', resolve);
    });
    return one;
  }

  get api(): KubernetesApi {
    const { port } = this.#server.address() as AddressInfo;
    const config = new KubeConfig();
    const server = `http://127.0.0.1:${port}`;
    config.loadFromClusterAndUser({ name: 'script', server, skipTLSVerify: true }, { name: 'nobody' });
    return new KubernetesApi(config);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }
}

function give(response: ServerResponse, answer: Answer): void {
  if ('status' in answer) {
    response
      .writeHead(answer.status, { 'content-type': 'application/json' })
      .end(JSON.stringify(answer.body));
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  for (const line of answer.lines)
    response.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  if (answer.open !== true) response.end();
}
