import { join } from 'node:path';
import type { ObjectMetadata } from '../kubernetes/api.ts';

/** The name by which storage classes ask for this provisioner. */
export const PROVISIONER = 'keelson.local/directory';

/** The annotation that tells who made a volume. */
export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';

const ASKED_PROVISIONER = 'volume.kubernetes.io/storage-provisioner';
const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
const ZONE = 'topology.kubernetes.io/zone';
const HOSTNAME = 'kubernetes.io/hostname';

/** A PersistentVolumeClaim, as far as it matters here. */
export interface Claim {
  readonly metadata: ObjectMetadata;
  readonly spec: {
    readonly storageClassName?: string;
    readonly volumeName?: string;
    readonly accessModes?: readonly string[];
    readonly volumeMode?: string;
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
  };
}

/** A StorageClass, as far as it matters here. */
export interface StorageClass {
  readonly metadata: ObjectMetadata;
  readonly provisioner: string;
  readonly reclaimPolicy?: string;
  readonly volumeBindingMode?: string;
  readonly parameters?: Readonly<Record<string, string>>;
}

/** A PersistentVolume, as far as it matters here. */
export interface Volume {
  readonly metadata: ObjectMetadata;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: { readonly phase?: string };
}

/** A Node, as far as it matters here. */
export interface Node {
  readonly metadata: ObjectMetadata;
}

/** Whether the claim waits for this provisioner: it has no volume, and its pod has found a node where that matters. */
export function needsVolume({ metadata, spec }: Claim, storageClass: StorageClass): boolean {
  if (storageClass.provisioner !== PROVISIONER || spec.volumeName !== undefined) return false;
  if (metadata.deletionTimestamp !== undefined || metadata.annotations?.[ASKED_PROVISIONER] !== PROVISIONER)
    return false;
  return (
    storageClass.volumeBindingMode !== 'WaitForFirstConsumer' ||
    metadata.annotations[SELECTED_NODE] !== undefined
  );
}

/** The volume for a claim: a directory, tied to a node or a zone when the class says so. */
export function buildVolume(
  claim: Claim,
  storageClass: StorageClass,
  nodes: readonly Node[],
  directory: string,
): Volume {
  const name = `pvc-${claim.metadata.uid}`;
  const affinity = buildAffinity(claim, storageClass, nodes);
  return {
    metadata: { name, annotations: { [PROVISIONED_BY]: PROVISIONER } },
    spec: {
      capacity: { storage: claim.spec.resources?.requests?.['storage'] ?? '1Gi' },
      accessModes: claim.spec.accessModes ?? ['ReadWriteOnce'],
      volumeMode: 'Filesystem',
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      storageClassName: storageClass.metadata.name,
      hostPath: { path: join(directory, name), type: 'Directory' },
      claimRef: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        namespace: claim.metadata.namespace,
        name: claim.metadata.name,
        uid: claim.metadata.uid,
      },
      ...(affinity === undefined ? {} : { nodeAffinity: affinity }),
    },
  };
}

function buildAffinity(claim: Claim, storageClass: StorageClass, nodes: readonly Node[]): unknown {
  const topology = storageClass.parameters?.['topology'];
  const key = topology === 'zone' ? ZONE : topology === 'node' ? HOSTNAME : undefined;
  if (key === undefined) return undefined;
  const selected = nodes.find(
    ({ metadata }) => metadata.name === claim.metadata.annotations?.[SELECTED_NODE],
  );
  const value = selected?.metadata.labels?.[key];
  if (value === undefined)
    throw new Error(`the node selected for ${claim.metadata.name} has no label ${key}`);
  return {
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: [value] }] }] },
  };
}
