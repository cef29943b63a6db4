import type { ClusterWorld } from '../../valkey/cluster-world.ts';

/** Everything that the histories of a cluster's workflows hold, payloads decoded. */
export async function readHistories(world: ClusterWorld): Promise<string> {
  const { workflow } = await world.temporal();
  const texts: string[] = [];
  for await (const { workflowId, runId } of workflow.list({
    query: `KeelsonNamespace = '${world.namespace}'`,
  }))
    texts.push(JSON.stringify(decoded(await workflow.getHandle(workflowId, runId).fetchHistory())));
  return texts.join('\n');
}

/** Bytes become the text that they are; JSON would write them as numbers, in which nothing can be found. */
function decoded(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (Array.isArray(value)) return value.map(decoded);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, decoded(one)]));
}
