import { readHistoryText } from '../../history-text.ts';
import type { ClusterWorld } from '../../valkey/cluster-world.ts';

/** Everything that the histories of a cluster's workflows hold, payloads decoded. */
export async function readHistories(world: ClusterWorld): Promise<string> {
  const { workflow } = await world.temporal();
  const texts: string[] = [];
  for await (const { workflowId, runId } of workflow.list({
    query: `KeelsonNamespace = '${world.namespace}'`,
  }))
    texts.push(await readHistoryText(workflow.getHandle(workflowId, runId)));
  return texts.join('\n');
}
