import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A wire between a client and a server that a test can freeze, cut and mend. */
export class TcpProxy implements AsyncDisposable {
  readonly #target: { host: string; port: number };
  readonly #pairs = new Set<{ readonly client: Socket; readonly server: Socket }>();
  #server: Server;
  #port = 0;

  private constructor(target: { host: string; port: number }) {
    this.#target = target;
    this.#server = this.#createServer();
  }

  static async to(host: string, port: number): Promise<TcpProxy> {
    const proxy = new TcpProxy({ host, port });
    await proxy.#listen();
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  get connections(): number {
    return this.#pairs.size;
  }

  /** Every open connection stays open, and nothing passes through it any more. New connections work. */
  freeze(): void {
    for (const { client, server } of this.#pairs) {
      client.unpipe(server);
      server.unpipe(client);
      client.pause();
      server.pause();
    }
  }

  /** Breaks every connection and refuses new ones. */
  async cut(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
    await closed;
  }

  /** Listens again, on the same port. */
  async mend(): Promise<void> {
    this.#server = this.#createServer();
    await this.#listen();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cut();
  }

  #createServer(): Server {
    return createServer((client) => {
      const server = connect(this.#target.port, this.#target.host);
      const pair = { client, server };
      this.#pairs.add(pair);
      const end = (): void => {
        client.destroy();
        server.destroy();
        this.#pairs.delete(pair);
      };
      for (const socket of [client, server]) socket.on('error', end).on('close', end);
      client.pipe(server).pipe(client);
    });
  }

  async #listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = (this.#server.address() as AddressInfo).port;
  }
}
