import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { registerSearchAttributes } from './search-attributes.ts';

const RETENTION_MS = 24 * 3600 * 1000;
const LIMIT_MS = 30_000;
const POLL_MS = 100;

/** Makes a Temporal namespace with Keelson's search attributes, and waits until all of the server knows it. */
export async function createTemporalNamespace(address: string, namespace: string): Promise<string> {
  const connection = await Connection.connect({ address });
  try {
    const workflowExecutionRetentionPeriod = msToTs(RETENTION_MS);
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  } finally {
    await connection.close();
  }
  const deadline = Date.now() + LIMIT_MS;
  for (;;) {
    try {
      await registerSearchAttributes(address, namespace);
      return namespace;
    } catch (error) {
      // The server's parts learn of a new namespace one after the other.
      if (Date.now() > deadline) throw error;
      await delay(POLL_MS);
    }
  }
}
