import type { Json } from '../../shared/plan.ts';
import { buildShardSet, type ValkeyManifest } from '../../valkey-cluster/domain/manifests.ts';
import type { ValkeyClusterResource } from '../../valkey-cluster/domain/observation.ts';
import { versionsDiffer, type UpgradeFacts } from './judgement.ts';
import { tagOf } from './resource.ts';
import { imageOf } from '../../valkey-cluster/domain/pod-template.ts';

/** The cluster as if its spec asked for another tag. */
export const withTag = (cluster: ValkeyClusterResource, tag: string): ValkeyClusterResource => ({
  ...cluster,
  spec: { ...cluster.spec, image: { ...cluster.spec.image, tag } },
});

/** The cluster as a shard has it: its own version, where an upgrade left the shards with different ones. */
export function withOwnTag(observed: UpgradeFacts, shard: number): ValkeyClusterResource {
  const set = observed.shards.find((one) => one.shard === shard);
  return set !== undefined && versionsDiffer(observed)
    ? withTag(observed.cluster, tagOf(set.image))
    : observed.cluster;
}

/**
 * The StatefulSet of a shard while an upgrade sets its version. Where a snapshot is to be kept, a pod puts the one that it
 * finds aside before its server starts and writes over it.
 */
export function buildUpgradedSet(
  cluster: ValkeyClusterResource,
  shard: number,
  tag: string,
  pods: number,
  keepSnapshot: boolean,
): ValkeyManifest {
  const upgraded = withTag(cluster, tag);
  const set = buildShardSet(upgraded, shard);
  const spec = Object(set['spec']) as {
    readonly template: { readonly spec: Readonly<Record<string, Json>> };
  };
  const keeper = {
    name: 'keep-snapshot',
    image: imageOf(upgraded.spec),
    imagePullPolicy: upgraded.spec.image.pullPolicy,
    command: ['/bin/sh', '-c', keepCommand(tag)],
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
  };
  const podSpec = keepSnapshot ? { ...spec.template.spec, initContainers: [keeper] } : spec.template.spec;
  const template = { ...spec.template, spec: podSpec } as unknown as Json;
  return {
    ...set,
    spec: { ...(spec as unknown as Readonly<Record<string, Json>>), replicas: pods, template },
  };
}

/** One that was kept before stays: the first one is of the old version. */
const keepCommand = (tag: string): string =>
  `kept=/data/before-${tag}.rdb; if [ -f /data/dump.rdb ] && [ ! -f "$kept" ]; then cp /data/dump.rdb "$kept"; fi`;
