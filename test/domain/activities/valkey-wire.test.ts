import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createValkeyConnect } from '../../../activities/valkey/client.ts';
import { classify } from '../../../activities/valkey/errors.ts';
import { FAILURES } from '../../../workflows/shared/failure-codes.ts';

const BRIEF_MS = { connect: 500, command: 300 } as const;
const NOBODY = { user: 'default', password: null, tls: null };

let server: Server | null = null;
const sockets = new Set<Socket>();
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server?.close();
});

/** Something that listens where a server should, and does this with every request. */
async function listen(answer: (socket: Socket, request: string) => void): Promise<number> {
  const listening = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}); // The other side hangs up on nonsense.
    socket.on('data', (bytes) => answer(socket, bytes.toString()));
  });
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  return (listening.address() as AddressInfo).port;
}

/** Asks as an activity does, and answers the reply or the code of the failure. */
async function ask(port: number): Promise<string> {
  const endpoint = { pod: 'cache-0-0', ip: '127.0.0.1', port };
  try {
    const connection = await createValkeyConnect()(endpoint, NOBODY, BRIEF_MS);
    try {
      return await connection.ask('PING');
    } finally {
      connection.close();
    }
  } catch (error) {
    return classify(error);
  }
}

describe('what listens on the port of a server', () => {
  it.each([
    ['speaks another protocol', (socket: Socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['sends bytes that mean nothing', (socket: Socket) => socket.write(Buffer.from([0, 255, 13, 10]))],
    ['resets the connection', (socket: Socket) => socket.resetAndDestroy()],
    ['hangs up', (socket: Socket) => socket.end()],
    ['does not answer in time', () => {}],
  ])('and %s is a failure that is retried', async (_, answer) => {
    const code = await ask(await listen(answer));
    expect(code).toMatch(/^Valkey(Protocol|Unreachable)$/);
    expect(FAILURES[code as 'ValkeyProtocol'].class).toBe('transient');
  });

  it('is asked anew by every attempt, and answers once it is a server again', async () => {
    let broken = true;
    const port = await listen((socket) => socket.write(broken ? 'nonsense\r\n' : '+PONG\r\n'));
    expect(await ask(port)).toBe('ValkeyProtocol');
    broken = false;
    expect(await ask(port)).toBe('PONG');
  });
});

describe('a server that may not have heard of a changed password', () => {
  /** Takes one password, and refuses every other in the words of Valkey. */
  const openedBy = (password: string): Promise<number> =>
    listen((socket, request) => {
      const right = request.includes(password);
      socket.write(right ? '+OK\r\n' : '-WRONGPASS invalid username-password pair or user is disabled.\r\n');
    });
  const logIn = async (port: number, older: readonly string[]) => {
    const endpoint = { pod: 'cache-0-0', ip: '127.0.0.1', port };
    const credentials = { user: 'default', password: 'newest', older, tls: null };
    const connection = await createValkeyConnect()(endpoint, credentials, BRIEF_MS);
    connection.close();
    return connection.credentials.password;
  };

  it('is opened by whichever of the passwords it takes, the newest first', async () => {
    expect(await logIn(await openedBy('newest'), ['older'])).toBe('newest');
    expect(await logIn(await openedBy('oldest'), ['older', 'oldest'])).toBe('oldest');
  });

  it('that takes none of them is a failure that names no password', async () => {
    const refused = await logIn(await openedBy('another'), ['older']).catch((error: unknown) => error);
    expect(classify(refused)).toBe('ValkeyAuth');
    expect(String(refused)).not.toMatch(/newest|older/);
  });
});
