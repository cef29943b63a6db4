import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import type { ValkeyServer } from '../../../activities/valkey/contract.ts';

/** What the line to a server does with what is sent over it. */
export type Trouble = 'none' | 'garbage' | 'reset' | 'silence';

/** A line to a server that can be made to misbehave, for what is under way too. */
export class TroubledLine {
  /** The server, as it is reached over this line. */
  readonly server: ValkeyServer;
  readonly #sockets = new Set<Socket>();
  readonly #close: () => void;
  #trouble: Trouble = 'none';

  private constructor(server: ValkeyServer, close: () => void) {
    this.server = server;
    this.#close = close;
  }

  static async open(to: ValkeyServer): Promise<TroubledLine> {
    const listening = createServer((socket) => line.#accept(socket, to));
    await new Promise<void>((resolve) => listening.listen(0, to.ip, resolve));
    const { port } = listening.address() as AddressInfo;
    const line = new TroubledLine({ ...to, port }, () => listening.close());
    return line;
  }

  /** From now on, and for connections that are open: those are cut, answered with nonsense, or never answered again. */
  set(trouble: Trouble): void {
    this.#trouble = trouble;
    for (const socket of this.#sockets) {
      if (trouble === 'reset') socket.resetAndDestroy();
      if (trouble === 'garbage') socket.write('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    }
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#close();
  }

  #accept(socket: Socket, to: ValkeyServer): void {
    const onward = connect(to.port, to.ip);
    for (const one of [socket, onward]) one.on('error', () => one.destroy()); // The other end hears of it by the close.
    this.#sockets.add(socket);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      onward.destroy();
    });
    onward.on('close', () => socket.destroy());
    socket.on('data', (bytes) => {
      if (this.#trouble === 'none') onward.write(bytes);
      if (this.#trouble === 'reset') socket.resetAndDestroy();
      if (this.#trouble === 'garbage') socket.write('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    });
    onward.on('data', (bytes) => {
      if (this.#trouble === 'none') socket.write(bytes);
    });
  }
}
