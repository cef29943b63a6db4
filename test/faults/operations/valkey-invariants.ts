import type { ClusterWorld } from '../../valkey/cluster-world.ts';
import type { Invariant } from '../operation.ts';

const TYPES = [
  'pods',
  'persistentvolumeclaims',
  'services',
  'configmaps',
  'statefulsets',
  'poddisruptionbudgets',
] as const;

/** Every object of the cluster belongs to the resource, so that none outlives it. */
export const ownerOfAll: Invariant<ClusterWorld> = {
  says: 'every object is owned by the resource',
  async broken(world) {
    const uid = (await world.read())?.metadata.uid;
    for (const type of ['services', 'configmaps', 'statefulsets', 'poddisruptionbudgets'] as const) {
      for (const object of await world.list(type)) {
        const owners =
          (object.metadata as { readonly ownerReferences?: readonly { readonly uid: string }[] })
            .ownerReferences ?? [];
        if (!owners.some((owner) => owner.uid === uid)) return `${type}/${object.metadata.name} is not`;
      }
    }
    return null;
  },
};

/** Nothing with the cluster's label is left in the namespace. */
export const nothingIsLeft: Invariant<ClusterWorld> = {
  says: 'nothing is left behind',
  async broken(world) {
    for (const type of TYPES) {
      const names = (await world.list(type)).map((object) => object.metadata.name);
      if (names.length > 0) return `${type}: ${names.join(', ')}`;
    }
    return null;
  },
};

/** The entity waits for the next change, and no operation runs beside it. */
export const oneEntityRuns: Invariant<ClusterWorld> = {
  says: 'one entity and no operation runs',
  async broken(world) {
    const running = await runningIds(world);
    return running.length === 1 && running[0] === world.entityId
      ? null
      : `running: ${running.join(', ') || 'nothing'}`;
  },
};

export const noWorkflowRuns: Invariant<ClusterWorld> = {
  says: 'no workflow runs any more',
  async broken(world) {
    const running = await runningIds(world);
    return running.length === 0 ? null : `running: ${running.join(', ')}`;
  },
};

/** The entity and, while it runs, its operation: visibility lags behind, so each is asked itself. */
async function runningIds(world: ClusterWorld): Promise<readonly string[]> {
  const client = await world.temporal();
  const ids = new Set([world.entityId]);
  for await (const one of client.workflow.list({ query: `KeelsonNamespace = '${world.namespace}'` }))
    ids.add(one.workflowId);
  const running: string[] = [];
  for (const id of ids) {
    const described = await client.workflow
      .getHandle(id)
      .describe()
      .catch((error: unknown) => {
        if (error instanceof Error && error.name === 'WorkflowNotFoundError') return null;
        throw error;
      });
    if (described?.status.name === 'RUNNING') running.push(id);
  }
  return running;
}
