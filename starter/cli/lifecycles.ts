import { KIND, LIFECYCLE, WORKFLOW } from '../../workflows/spot-agent/contract.ts';
import { loadWatches } from '../load-watches.ts';
import type { NamedLifecycle } from './target.ts';

/** Its resources are rows of a database, so nothing in Kubernetes is watched for it. */
const spotAgent: NamedLifecycle = { lifecycle: LIFECYCLE, workflowType: WORKFLOW, primary: { kind: KIND } };

/** Every lifecycle whose entities a command may name, whatever tells them of changes. */
export async function loadLifecycles(): Promise<readonly NamedLifecycle[]> {
  return [...(await loadWatches()), spotAgent];
}
