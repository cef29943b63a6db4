import type { ValkeyPod } from '../../workflows/valkey-cluster/domain/observation.ts';
import { readLogIn, type LogIn, type ValkeyClients } from './access.ts';
import type { Credentials } from './client.ts';
import type { ValkeyAccess } from './contract.ts';
import { parseServerInfo } from './info.ts';
import type { Answer } from './topology.ts';
import { readView } from './view.ts';

/** A server that is asked only to be described has to answer at once. */
const BRIEF_MS = { connect: 800, command: 1_500 } as const;

/** What came back from all servers, and what they were asked with; null where nobody was. */
export interface Asked {
  readonly answers: readonly Answer[];
  readonly logIn: LogIn | null;
}

/** Asks every server that runs; one that does not answer is described by why. */
export async function askServers(
  clients: ValkeyClients,
  access: ValkeyAccess,
  pods: readonly Omit<ValkeyPod, 'nodeId'>[],
): Promise<Asked> {
  const running = pods.filter((pod) => pod.ip !== null && pod.phase === 'Running');
  if (running.length === 0) return { answers: [], logIn: null };
  let logIn: LogIn;
  try {
    logIn = await readLogIn(clients.kubernetes, access);
  } catch (error) {
    return { answers: running.map((pod) => ({ pod: pod.name, why: wordsOf(error) })), logIn: null };
  }
  const { credentials } = logIn;
  const answers = await Promise.all(
    running.map((pod) => askOne(clients, pod.name, pod.ip ?? '', credentials)),
  );
  return { answers, logIn };
}

async function askOne(
  clients: ValkeyClients,
  pod: string,
  ip: string,
  credentials: Credentials,
): Promise<Answer> {
  try {
    const connection = await clients.connect({ pod, ip, port: clients.naming.port }, credentials, BRIEF_MS);
    try {
      const [view, info] = await Promise.all([readView(connection), connection.ask('INFO')]);
      const lacksPassword = connection.credentials.password !== credentials.password;
      return { pod, view, info: parseServerInfo(info), lacksPassword };
    } finally {
      connection.close();
    }
  } catch (error) {
    return { pod, why: wordsOf(error) };
  }
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
