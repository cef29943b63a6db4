import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterWorld } from '../../valkey/cluster-world.ts';
import type { KubernetesObject } from '../../../deploy/local/kubernetes/api.ts';
import type { Invariant } from '../operation.ts';

interface ClaimedSpec {
  readonly claimRef?: { readonly namespace?: string };
}

const RECLAIM_SECONDS = 15;

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

/** No process of a pod runs any more on the nodes: those of earlier runs are gone too. */
export const noProcessIsLeft: Invariant<ClusterWorld> = {
  says: 'no process of a pod is left',
  broken(world) {
    const pods = join(world.stack.home, 'data', 'nodes', 'pods');
    const left = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(pods));
    return Promise.resolve(left.length === 0 ? null : `processes ${left.join(', ')}`);
  },
};

/** Empty for a process that has just ended. */
function commandOf(pid: string): string {
  try {
    return readFileSync(join('/proc', pid, 'cmdline'), 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}

/** No volume that was made for a claim of the namespace holds data any more; the provisioner may be at it. */
export const noVolumeIsLeft: Invariant<ClusterWorld> = {
  says: 'no volume is left',
  async broken(world) {
    const volumes = async (): Promise<readonly string[]> => {
      const { items } = await world.api.send<{ items: KubernetesObject[] }>(
        'GET',
        '/api/v1/persistentvolumes',
      );
      return items
        .filter(({ spec }) => (spec as ClaimedSpec | undefined)?.claimRef?.namespace === world.namespace)
        .map(({ metadata }) => metadata.name);
    };
    return world
      .until(async () => {
        const left = await volumes();
        return left.length === 0 ? { found: null } : { missing: `the end of volumes ${left.join(', ')}` };
      }, RECLAIM_SECONDS)
      .catch(String);
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
