import { setTimeout as sleep } from 'node:timers/promises';
import proto from '@temporalio/proto';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection } from '@temporalio/worker';
import { isGrpcServiceError } from '@temporalio/client';
import type { Logger } from 'pino';
import { SEARCH_ATTRIBUTES } from '../workflows/shared/messages.ts';

const KEYWORD = proto.temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD;
const RETRY_MS = { first: 250, last: 5_000 } as const;
/** PERMISSION_DENIED and UNIMPLEMENTED: a service that does not let everybody look. */
const MAY_NOT_LOOK: ReadonlySet<number> = new Set([7, 12]);

/** A connection to Temporal and the namespace that its configuration names. */
export interface TemporalConnection {
  readonly connection: NativeConnection;
  readonly namespace: string;
}

/** Connects as the Temporal CLI would, by environment and `temporal.toml`, and waits for a server that is away. */
export async function connectPatiently(
  logger: Logger,
  signal: AbortSignal,
  say: (why: string) => void,
): Promise<TemporalConnection> {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  const address = connectionOptions.address ?? 'localhost:7233';
  const connection = await patiently(logger, signal, say, `Temporal at ${address} does not answer`, () =>
    NativeConnection.connect(connectionOptions),
  );
  return { connection, namespace: namespace ?? 'default' };
}

/** Waits until every search attribute is registered: a workflow that sets an unknown one would be stuck. */
export async function awaitSearchAttributes(
  { connection, namespace }: TemporalConnection,
  logger: Logger,
  signal: AbortSignal,
  say: (why: string) => void,
): Promise<void> {
  await patiently(logger, signal, say, 'search attributes are missing', async () => {
    const missing = await findMissing(connection, namespace, logger);
    if (missing.length === 0) return;
    const names = missing.map((name) => `--name ${name} --type Keyword`).join(' ');
    throw new Error(`run: temporal operator search-attribute create --namespace ${namespace} ${names}`);
  });
}

async function findMissing(
  connection: NativeConnection,
  namespace: string,
  logger: Logger,
): Promise<readonly string[]> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return Object.values(SEARCH_ATTRIBUTES).filter((name) => customAttributes?.[name] !== KEYWORD);
  } catch (error) {
    if (!isGrpcServiceError(error) || !MAY_NOT_LOOK.has(error.code)) throw error;
    logger.warn({ namespace }, 'the search attributes cannot be checked with these rights');
    return [];
  }
}

/** Tries until it works, saying why it does not. */
async function patiently<T>(
  logger: Logger,
  signal: AbortSignal,
  say: (why: string) => void,
  trouble: string,
  work: () => Promise<T>,
): Promise<T> {
  for (let delayMs: number = RETRY_MS.first; ; delayMs = Math.min(delayMs * 2, RETRY_MS.last)) {
    try {
      return await work();
    } catch (error) {
      const why = `${trouble}: ${error instanceof Error ? error.message : String(error)}`;
      say(why);
      logger.warn({ retryMs: delayMs }, why);
      await sleep(delayMs, undefined, { signal });
    }
  }
}
