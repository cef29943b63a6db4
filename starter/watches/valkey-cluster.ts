import type { ResourceRef } from '../../workflows/shared/messages.ts';
import { fieldOf, labelOf, textOf } from '../object-field.ts';
import type { KubernetesObject, LifecycleWatch } from '../watch-definition.ts';

const GROUP = 'valkey-operator.smoketurner.com';

/** The label by which pods and StatefulSets name their cluster. */
const CLUSTER_LABEL = `${GROUP}/cluster`;

/**
 * ValkeyCluster, with its upgrades, which are wishes of their own; its StatefulSets and pods, and the Secrets that it
 * names, wake at most.
 */
export const watch: LifecycleWatch = {
  lifecycle: 'valkey-cluster',
  workflowType: 'valkeyCluster',
  primary: { group: GROUP, version: 'v1alpha1', plural: 'valkeyclusters', kind: 'ValkeyCluster' },
  secondaries: [
    {
      group: GROUP,
      version: 'v1alpha1',
      plural: 'valkeyupgrades',
      kind: 'ValkeyUpgrade',
      is: 'wish',
      owner: upgradedCluster,
    },
    {
      group: '',
      version: 'v1',
      plural: 'pods',
      kind: 'Pod',
      is: 'part',
      labelSelector: CLUSTER_LABEL,
      owner: clusterOf,
      news: podNews,
    },
    {
      group: 'apps',
      version: 'v1',
      plural: 'statefulsets',
      kind: 'StatefulSet',
      is: 'part',
      labelSelector: CLUSTER_LABEL,
      owner: clusterOf,
    },
    {
      group: '',
      version: 'v1',
      plural: 'secrets',
      kind: 'Secret',
      is: 'part',
      owner: () => null,
      namedBy: secretsOf,
      news: (secret) => JSON.stringify(fieldOf(secret, 'data') ?? null),
    },
  ],
};

/** The Secrets of which a change is the cluster's business. */
function secretsOf(cluster: KubernetesObject): readonly string[] {
  const spec = fieldOf(cluster, 'spec');
  const auth = fieldOf(spec, 'auth');
  const acl = fieldOf(auth, 'acl');
  return [
    textOf(fieldOf(auth, 'secretRef'), 'name'),
    textOf(fieldOf(acl, 'configSecretRef'), 'name'),
    textOf(fieldOf(spec, 'tls'), 'secretName'),
  ].filter((name) => name !== null);
}

/** An upgrade stands in the namespace of its cluster; one that says otherwise is told so by that cluster's workflow. */
function upgradedCluster(object: KubernetesObject): ResourceRef | null {
  const namespace = textOf(fieldOf(object, 'metadata'), 'namespace');
  const name = textOf(fieldOf(fieldOf(object, 'spec'), 'clusterRef'), 'name');
  return namespace === null || name === null ? null : { namespace, name };
}

function clusterOf(object: KubernetesObject): ResourceRef | null {
  const namespace = textOf(fieldOf(object, 'metadata'), 'namespace');
  const name = labelOf(object, CLUSTER_LABEL);
  return namespace === null || name === null ? null : { namespace, name };
}

/** A pod that fails, moves or loses its readiness is a reason to look; its other status is noise. */
function podNews(pod: KubernetesObject): string {
  const status = fieldOf(pod, 'status');
  const conditions = fieldOf(status, 'conditions');
  const ready = Array.isArray(conditions)
    ? conditions.find((one) => fieldOf(one, 'type') === 'Ready')
    : undefined;
  return [textOf(status, 'phase'), textOf(status, 'podIP'), textOf(ready, 'status')].join(' ');
}
