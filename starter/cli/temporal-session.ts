import { NamespaceNotFoundError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import { openTemporal } from '../temporal-connection.ts';
import { grpcCodeOf } from '../temporal-errors.ts';
import { CliError } from './cli-error.ts';
import { withLocalStack } from './local-stack.ts';

/** A connection to Temporal for the time of one command. */
export interface TemporalSession {
  readonly client: Client;
  readonly address: string;
  /** How long one call may take. */
  readonly deadlineMs: number;
}

const UNAVAILABLE = 14;
const DEADLINE_EXCEEDED = 4;

/** Runs a command's work against the user's own Temporal, or the embedded one, and says in words when there is none. */
export async function withTemporal<T>(
  deadlineMs: number,
  work: (session: TemporalSession) => Promise<T>,
): Promise<T> {
  const temporal = open(await withLocalStack(process.env), deadlineMs);
  try {
    await temporal.client.connection.withDeadline(Date.now() + deadlineMs, () =>
      temporal.client.connection.ensureConnected(),
    );
    return await work({ client: temporal.client, address: temporal.address, deadlineMs });
  } catch (error) {
    throw explainConnection(error, temporal.address, temporal.client.options.namespace);
  } finally {
    await temporal.close();
  }
}

function open(
  environment: Readonly<Record<string, string | undefined>>,
  deadlineMs: number,
): ReturnType<typeof openTemporal> {
  try {
    return openTemporal(environment, deadlineMs);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CliError(`the Temporal configuration cannot be used: ${message}`, {
      remedy: 'Check TEMPORAL_PROFILE, TEMPORAL_CONFIG_FILE and ~/.config/temporalio/temporal.toml.',
      exitCode: 2,
      cause: error,
    });
  }
}

/** What an error of the connection itself means to a person; every other error is left as it is. */
export function explainConnection(error: unknown, address: string, namespace: string): unknown {
  if (error instanceof CliError) return error;
  const code = grpcCodeOf(error);
  if (error instanceof NamespaceNotFoundError)
    return new CliError(`Temporal at ${address} has no namespace "${namespace}"`, {
      remedy: 'Set TEMPORAL_NAMESPACE, or the namespace of your profile in temporal.toml.',
      cause: error,
    });
  const failedToConnect = error instanceof Error && /failed to connect/i.test(error.message);
  if (code === UNAVAILABLE || failedToConnect)
    return new CliError(`there is no Temporal at ${address}`, {
      remedy:
        'Start the embedded stack with "keelson up", or set TEMPORAL_ADDRESS or a profile in temporal.toml to yours.',
      cause: error,
    });
  if (code === DEADLINE_EXCEEDED)
    return new CliError(`Temporal at ${address} did not answer in time`, {
      remedy: 'Try again, or give it longer with --timeout.',
      cause: error,
    });
  return error;
}
