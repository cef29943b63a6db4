import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';

/** Neither the embedded stack nor a client that asks the system for a port comes here. */
const PORTS = { first: 24_000, count: 6_000 } as const;

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

  /** Takes a port below those of which the system gives one to every client, or another's could stand on it when it is mended. */
  async #listen(): Promise<void> {
    for (;;) {
      const port = this.#port === 0 ? PORTS.first + Math.floor(Math.random() * PORTS.count) : this.#port;
      const failed = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
        this.#server.once('error', resolve);
        this.#server.listen(port, '127.0.0.1', () => resolve(null));
      });
      if (failed === null) {
        this.#port = port;
        return;
      }
      if (failed.code !== 'EADDRINUSE' || this.#port !== 0) throw failed;
      this.#server = this.#createServer();
    }
  }
}
