import type { Container, PodSpec } from '../../../deploy/local/kubelet/api/objects.ts';
import type { TestNamespace } from './cluster.ts';

/** A Deployment of pods with one label, `app`. */
export async function createDeployment(
  space: TestNamespace,
  name: string,
  replicas: number,
  spec: Partial<PodSpec>,
): Promise<void> {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { terminationGracePeriodSeconds: 2, ...spec } };
  await space.create(space.appsPath('deployments'), {
    metadata: { name },
    spec: { replicas, selector: { matchLabels: labels }, template },
  });
}

/** A StatefulSet whose pods each have a claim, mounted at `/data`. */
export async function createStatefulSet(
  space: TestNamespace,
  name: string,
  replicas: number,
  container: Container,
): Promise<void> {
  const labels = { app: name };
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Mi' } } };
  const withData = { ...container, volumeMounts: [{ name: 'data', mountPath: '/data' }] };
  const spec = { terminationGracePeriodSeconds: 2, containers: [withData] };
  await space.create(space.appsPath('statefulsets'), {
    metadata: { name },
    spec: {
      serviceName: name,
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec },
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }],
    },
  });
}

/** Forbids or allows that the scheduler places pods on a node. */
export async function cordon(space: TestNamespace, node: string, unschedulable: boolean): Promise<void> {
  await space.patch(`/api/v1/nodes/${node}`, { spec: { unschedulable } });
}

interface NodeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** What the API thinks of a node: `True`, `False` or `Unknown`. */
export async function readNodeReadiness(space: TestNamespace, node: string): Promise<string | undefined> {
  const found = await space.api.read<NodeObject>(`/api/v1/nodes/${node}`);
  return found?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
}
