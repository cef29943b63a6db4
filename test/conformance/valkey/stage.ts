import type { Readable } from 'node:stream';
import type { ObjectIdentity } from '../../../activities/kubernetes/contract.ts';
import type { ValkeyAccess, ValkeyActivities, ValkeyServer } from '../../../activities/valkey/contract.ts';

/** How servers are started: nothing is asked of a client unless it is said here. */
export interface ServerOptions {
  readonly password?: string;
  /** Lines of the server's configuration, such as a user with fewer rights. */
  readonly settings?: readonly (readonly [directive: string, value: string])[];
}

/** Where the suite plays: servers that can be started and looked at, real or not. */
export interface ValkeyStage {
  readonly activities: ValkeyActivities;
  /** Starts servers that know nobody, each in a pod of its own. */
  start(count: number, options?: ServerOptions): Promise<readonly ValkeyServer[]>;
  /** Sends a command as a person would; answers its text. */
  command(server: ValkeyServer, ...words: readonly string[]): Promise<string>;
  /** How to reach the servers with this password, which lies in a Secret. */
  access(auth?: { readonly user?: string; readonly password: string }): ValkeyAccess;
  /** The resource that all of it belongs to. */
  readonly owner: ObjectIdentity;
  /** Writes a Secret, as its user would. */
  writeSecret(name: string, data: Readonly<Record<string, string>>): void;
  /** Logs in as a client; answers the refusal, or null. */
  logIn(server: ValkeyServer, user: string, password: string): Promise<string | null>;
  /** From now on another pod has the server's name and address. */
  replacePod(server: ValkeyServer): void;
  /** Ends the server and starts it with its data in another pod at another address. */
  move(server: ValkeyServer): Promise<ValkeyServer>;
  /** Ends the server as a lost machine would. */
  kill(server: ValkeyServer): Promise<void>;
  close(): Promise<void>;
}

/** All that a stream said until it ended, for the error of a server that did not start. */
export function collect(stream: Readable): () => string {
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return () => text.slice(-2_000);
}
