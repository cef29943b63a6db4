import type { WorkflowHandle } from '@temporalio/client';

/** Everything that the history of a run holds, as text in which words can be found. */
export async function readHistoryText(handle: Pick<WorkflowHandle, 'fetchHistory'>): Promise<string> {
  return JSON.stringify(decoded(await handle.fetchHistory()));
}

/** Bytes become the text that they are; JSON would write them as numbers, in which nothing can be found. */
function decoded(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (Array.isArray(value)) return value.map(decoded);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, decoded(one)]));
}
