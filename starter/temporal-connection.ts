import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';

/** A client by the user's own configuration (`temporal.toml`, `TEMPORAL_…`), connected when it is first used. */
export function openTemporal(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  connectTimeoutMs = 10_000,
): {
  readonly client: Client;
  readonly address: string;
  readonly close: () => Promise<void>;
} {
  const variables = Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars: variables });
  const { address = '127.0.0.1:7233', tls, apiKey, metadata } = connectionOptions;
  const connection = Connection.lazy({
    address,
    connectTimeout: connectTimeoutMs,
    // By default a client that found nobody listening may wait two minutes before it looks again.
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 250, 'grpc.max_reconnect_backoff_ms': 5_000 },
    ...(tls === undefined ? {} : { tls }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(metadata === undefined ? {} : { metadata }),
  });
  const client = new Client({ connection, ...(namespace === undefined ? {} : { namespace }) });
  return { client, address, close: () => connection.close() };
}
