import type { ValkeyClusterSpec, ValkeyPlaces } from '../../workflows/valkey-cluster/domain/observation.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { isForbidden } from '../kubernetes/errors.ts';
import type { KubernetesObject } from '../kubernetes/objects.ts';

const ZONE_LABEL = 'topology.kubernetes.io/zone';
/** Nodes come and go rarely, and a large cluster has thousands of them. */
const KEPT_FOR_MS = 15_000;

interface Node extends KubernetesObject {
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

/** Reads the nodes that may take a pod of a spec; undefined where the worker may not look at nodes. */
export function createPlaceReader(
  kubernetes: Pick<KubernetesClient, 'list'>,
): (spec: ValkeyClusterSpec) => Promise<ValkeyPlaces | undefined> {
  let kept: { readonly nodes: Promise<readonly Node[] | undefined>; readonly readAtMs: number } | null = null;
  return async ({ scheduling }) => {
    if (kept === null || Date.now() - kept.readAtMs > KEPT_FOR_MS)
      kept = { nodes: listNodes(kubernetes), readAtMs: Date.now() };
    const reading = kept;
    const nodes = await reading.nodes.catch((error: unknown) => {
      if (kept === reading) kept = null;
      throw error;
    });
    if (nodes === undefined) return undefined;
    const eligible = nodes.filter((node) => mayTake(node, scheduling));
    return {
      machines: nodes.length,
      eligible: eligible.map(({ metadata: { name, labels } }) => ({
        name,
        zone: labels?.[ZONE_LABEL] ?? '',
      })),
    };
  };
}

async function listNodes(kubernetes: Pick<KubernetesClient, 'list'>): Promise<readonly Node[] | undefined> {
  try {
    return (await kubernetes.list<Node>({ apiVersion: 'v1', kind: 'Node', namespace: '' })).items;
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

/** As the scheduler judges it; how full a node is, only the scheduler knows. */
export function mayTake(node: Node, scheduling: ValkeyClusterSpec['scheduling']): boolean {
  const { unschedulable = false, taints = [] } = node.spec ?? {};
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
  const selected = Object.entries(scheduling.nodeSelector).every(
    ([key, value]) => node.metadata.labels?.[key] === value,
  );
  const refusing = taints.filter(({ effect }) => effect === 'NoSchedule' || effect === 'NoExecute');
  const tolerated = refusing.every((taint) => scheduling.tolerations.some((one) => tolerates(one, taint)));
  return ready && !unschedulable && selected && tolerated;
}

function tolerates(toleration: Readonly<Record<string, string | number>>, taint: Taint): boolean {
  const { key, operator = 'Equal', value = '', effect } = toleration;
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key === undefined) return operator === 'Exists';
  return key === taint.key && (operator === 'Exists' || value === (taint.value ?? ''));
}
