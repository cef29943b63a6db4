import type { ValkeyPod } from '../../workflows/valkey-cluster/domain/observation.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { isForbidden } from '../kubernetes/errors.ts';
import type { KubernetesObject, Pod } from '../kubernetes/objects.ts';

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';
/** A kubelet may be a little late. */
const LATE_MS = 5_000;

interface Node extends KubernetesObject {
  readonly spec?: { readonly taints?: readonly { readonly key: string }[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Why the deletion of a pod will not be carried out by its machine; null when it may be, or is not asked for. */
export async function readStuck(
  kubernetes: Pick<KubernetesClient, 'read'>,
  { metadata, spec }: Pod,
  nowMs: number,
): Promise<NonNullable<ValkeyPod['stuck']> | null> {
  // The time of deletion is the one by which the pod was to have ended.
  const { deletionTimestamp } = metadata;
  const node = spec.nodeName;
  if (deletionTimestamp === undefined || node === undefined) return null;
  if (Date.parse(deletionTimestamp) + LATE_MS > nowMs) return null;
  try {
    const name = { apiVersion: 'v1', kind: 'Node', namespace: '', name: node };
    const why = judge(await kubernetes.read<Node>(name));
    return why === null ? null : { node, why };
  } catch (error) {
    // Without the right to look at nodes nobody can say that one is lost.
    if (isForbidden(error)) return null;
    throw error;
  }
}

function judge(node: Node | null): NonNullable<ValkeyPod['stuck']>['why'] | null {
  if (node === null) return 'gone';
  if (node.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE) === true) return 'out-of-service';
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' ? null : 'lost';
}
