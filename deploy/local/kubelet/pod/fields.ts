import type { Container, Pod, ResourceFieldRef } from '../api/objects.ts';
import { divideQuantity } from './quantity.ts';

/** Addresses and capacity that only the node knows. */
export interface NodeFacts {
  readonly podIP: string;
  readonly hostIP: string;
  readonly allocatable: Readonly<Record<string, string>>;
}

/** A reference that the pod's own configuration must mend. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** The value of one field of the pod, as `fieldRef` names it. */
export function readField(pod: Pod, path: string, facts: NodeFacts): string {
  const subscript = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path);
  if (subscript !== null) {
    const map = subscript[1] === 'labels' ? pod.metadata.labels : pod.metadata.annotations;
    return map?.[subscript[2] ?? ''] ?? '';
  }
  const value = fieldReaders[path];
  if (value === undefined) throw new ConfigurationError(`unsupported fieldPath: ${path}`);
  return value(pod, facts);
}

const fieldReaders: Readonly<Record<string, (pod: Pod, facts: NodeFacts) => string>> = {
  'metadata.name': (pod) => pod.metadata.name,
  'metadata.namespace': (pod) => pod.metadata.namespace,
  'metadata.uid': (pod) => pod.metadata.uid,
  'metadata.labels': (pod) => formatMap(pod.metadata.labels),
  'metadata.annotations': (pod) => formatMap(pod.metadata.annotations),
  'spec.nodeName': (pod) => pod.spec.nodeName ?? '',
  'spec.serviceAccountName': (pod) => pod.spec.serviceAccountName ?? '',
  'status.podIP': (_pod, facts) => facts.podIP,
  'status.podIPs': (_pod, facts) => facts.podIP,
  'status.hostIP': (_pod, facts) => facts.hostIP,
  'status.hostIPs': (_pod, facts) => facts.hostIP,
};

function formatMap(map: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(map ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join('\n');
}

/** A request or limit of a container; a limit that is not set is what the node has. */
export function readResource(
  pod: Pod,
  own: Container | undefined,
  ref: ResourceFieldRef,
  facts: NodeFacts,
): string {
  const all = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  const container =
    ref.containerName === undefined ? own : all.find((each) => each.name === ref.containerName);
  if (container === undefined) throw new ConfigurationError(`container ${ref.containerName ?? ''} not found`);
  const [kind, resource = ''] = ref.resource.split('.', 2);
  const { limits, requests } = container.resources ?? {};
  const set = kind === 'limits' ? limits?.[resource] : (requests?.[resource] ?? limits?.[resource]);
  return divideQuantity(set ?? (kind === 'limits' ? (facts.allocatable[resource] ?? '0') : '0'), ref.divisor);
}
