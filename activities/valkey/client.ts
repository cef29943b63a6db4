import { Redis } from 'iovalkey';
import type { ConnectionOptions } from 'node:tls';
import { attemptSignal } from '../attempt.ts';
import { mutate, noMutationHook, type MutationHook } from '../mutations.ts';
import { ValkeyError } from './errors.ts';

/** What opens a server: never part of an input, a result, an error or a log. */
export interface Credentials {
  readonly user: string;
  readonly password: string | null;
  /** Older passwords, tried when the first is refused: a server may not have heard of it yet. */
  readonly older?: readonly string[];
  readonly tls: ConnectionOptions | null;
}

/** Where a server listens, and the pod by whose name errors speak of it. */
export interface Endpoint {
  readonly pod: string;
  readonly ip: string;
  readonly port: number;
}

/** A connection to one server, not to the cluster: commands go to exactly this node. */
export interface ValkeyConnection {
  readonly endpoint: Endpoint;
  /** What opened it. */
  readonly credentials: Credentials;
  /** Sends a command that only reads. */
  ask(...command: readonly string[]): Promise<string>;
  /** Sends a command that only reads and answers a list; its texts are bytes, because keys may be anything. */
  askList(...command: readonly string[]): Promise<readonly unknown[]>;
  /** Sends a command that changes something. */
  tell(...command: readonly (string | Buffer)[]): Promise<string>;
  close(): void;
}

/** Opens a connection, or fails within its time-out. */
export type Connect = (
  endpoint: Endpoint,
  credentials: Credentials,
  timeoutMs?: { readonly connect: number; readonly command: number },
) => Promise<ValkeyConnection>;

const PATIENT_MS = { connect: 2_000, command: 5_000 } as const;

/** A client that never connects again by itself: an attempt that loses its server fails, and the next one observes. */
export function createValkeyConnect(hook: MutationHook = noMutationHook): Connect {
  return async (endpoint, credentials, timeoutMs = PATIENT_MS) => {
    const client = new Redis({
      host: endpoint.ip,
      port: endpoint.port,
      lazyConnect: true,
      connectTimeout: timeoutMs.connect,
      commandTimeout: timeoutMs.command,
      retryStrategy: () => null,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      enableReadyCheck: false,
      autoResendUnfulfilledCommands: false,
      ...(credentials.tls === null ? {} : { tls: credentials.tls }),
    });
    let lastError: unknown = null;
    client.on('error', (error: unknown) => (lastError = error));
    const signal = attemptSignal();
    const end = (): void => client.disconnect();
    signal.addEventListener('abort', end, { once: true });

    const typed = async <T>(words: string, answer: Promise<T>): Promise<T> => {
      try {
        return await answer;
      } catch (error) {
        signal.throwIfAborted();
        throw new ValkeyError(endpoint.pod, words, error);
      }
    };
    const send = async (words: string, command: readonly (string | Buffer)[]): Promise<string> => {
      const [name = '', ...args] = command;
      return String(await typed(words, client.call(String(name), ...args)));
    };
    const close = (): void => {
      signal.removeEventListener('abort', end);
      client.disconnect();
    };

    try {
      await client.connect();
    } catch (error) {
      close();
      signal.throwIfAborted();
      throw new ValkeyError(endpoint.pod, 'a connection', lastError ?? error);
    }
    let password: string | null = null;
    try {
      password = await logIn((word) => send('AUTH', ['AUTH', credentials.user, word]), credentials);
    } catch (error) {
      close();
      throw error;
    }
    return {
      endpoint,
      credentials: { ...credentials, password },
      ask: (...command) => send(command.join(' '), command),
      async askList(...command) {
        const [name = '', ...args] = command;
        const list: unknown = await typed(command.join(' '), client.callBuffer(name, ...args));
        if (Array.isArray(list)) return list;
        throw new ValkeyError(
          endpoint.pod,
          command.join(' '),
          new Error('the protocol asks for a list here'),
        );
      },
      tell: (...command) => {
        const verb = verbOf(command);
        return mutate(hook, { system: 'valkey', verb, target: endpoint.pod }, () => send(verb, command));
      },
      close,
    };
  };
}

/** Answers the password that opened the server; when all are refused, the refusal of the newest tells. */
async function logIn(
  say: (password: string) => Promise<unknown>,
  { password, older = [] }: Credentials,
): Promise<string | null> {
  if (password === null) return null;
  let refusal: unknown = null;
  for (const word of [password, ...older]) {
    try {
      await say(word);
      return word;
    } catch (error) {
      if (!(error instanceof ValkeyError) || error.code !== 'WRONGPASS') throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}

const TWO_WORDS: ReadonlySet<unknown> = new Set(['CLUSTER', 'CONFIG', 'ACL']);

/** `CLUSTER MEET`, `MIGRATE`: what is done, without what it is done to, which may be a key or a password. */
const verbOf = (command: readonly (string | Buffer)[]): string =>
  command.slice(0, TWO_WORDS.has(command[0]) ? 2 : 1).join(' ');
