import { isOlder, parseVersion } from '../../valkey-cluster/domain/version.ts';
import type { UpgradePhase } from './phases.ts';
import type { ShardState } from './shard-states.ts';

export const UPGRADE_KIND = 'ValkeyUpgrade';

/** Whether a replica of the new version is added to each shard first, so that redundancy never drops. */
export type Strategy = 'InPlace' | 'Surge';

/** Where a person is asked before the upgrade goes on. */
export type ApprovalGate = 'None' | 'BeforeFirstFailover' | 'EachShard' | 'PointOfNoReturn';

export interface ValkeyUpgradeSpec {
  readonly clusterRef: { readonly name: string; readonly namespace?: string };
  readonly targetVersion: string;
  readonly replicationSyncTimeoutSeconds: number;
  readonly podReadyTimeoutSeconds: number;
  /** For how long the cluster must be whole after a handover before the old master goes. */
  readonly stabilitySeconds: number;
  readonly strategy?: Strategy;
  readonly approval: ApprovalGate;
  /** How long to watch after one shard before the next begins. */
  readonly bakeSeconds: number;
  readonly rollbackOnFailure: boolean;
  readonly maxUnavailableShards: number;
}

/** What the status says of one shard. */
export interface ShardStatus {
  readonly shardIndex: number;
  readonly status: ShardState;
  readonly masterNodeId?: string;
  readonly masterPod?: string;
  readonly promotedReplica?: string;
  /** Why that replica was chosen. */
  readonly promotedBecause?: string;
  readonly writeGapMs?: number;
  readonly syncStartedAt?: string;
  readonly syncElapsedSeconds?: number;
  /** Since when its pods are waited for, or how long they were the last time. */
  readonly podReadyStartedAt?: string;
  readonly podReadyElapsedSeconds?: number;
  readonly error?: string;
  /** When its last node ran the wanted version. */
  readonly completedAt?: string;
  /** Why a person wanted it left out. */
  readonly skippedBecause?: string;
  /** Who agreed to what the upgrade asks for in this shard. */
  readonly approvedBy?: string;
}

/** The status as last written, from which an interrupted upgrade goes on. */
export interface ValkeyUpgradeStatus {
  readonly phase: UpgradePhase;
  /** The generation that the phase was reached for. */
  readonly observedGeneration: number;
  /** The tag that the cluster ran with when the upgrade began. */
  readonly fromTag: string | null;
  readonly startedAt: string | null;
  readonly completedAt: string | null;
  readonly errorMessage: string | null;
  /** How many replicas each master had when the upgrade began: another number is for later. */
  readonly replicasPerMaster?: number | null;
  readonly shardStatuses: readonly ShardStatus[];
}

/** An upgrade as it is found: a wish for the cluster that it names. */
export interface ValkeyUpgradeResource {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly createdAt: string;
  readonly deleting: boolean;
  /** Whether a changed tag of the cluster stands behind it, and not a person who created it. */
  readonly automatic?: boolean;
  readonly spec: ValkeyUpgradeSpec;
  readonly status: ValkeyUpgradeStatus | null;
}

/** What the API server fills in where a manifest says nothing: the same values as in the definition of the resource. */
export const DEFAULT_UPGRADE: Omit<ValkeyUpgradeSpec, 'clusterRef' | 'targetVersion'> = {
  replicationSyncTimeoutSeconds: 300,
  podReadyTimeoutSeconds: 600,
  stabilitySeconds: 3,
  approval: 'None',
  bakeSeconds: 0,
  rollbackOnFailure: true,
  maxUnavailableShards: 1,
};

/** Surge by default where a shard would otherwise be left with one copy, or with none. */
export const strategyOf = (spec: ValkeyUpgradeSpec, replicasPerMaster: number): Strategy =>
  spec.strategy ?? (replicasPerMaster < 2 ? 'Surge' : 'InPlace');

/** The tag for a version: `9.1.2` for a cluster on `9.0.0-alpine` is `9.1.2-alpine`. */
export function tagFor(targetVersion: string, currentTag: string): string {
  if (!/^v?\d+\.\d+(\.\d+)?$/.test(targetVersion)) return targetVersion;
  const suffix = /^v?\d+\.\d+(?:\.\d+)?(-.+)$/.exec(currentTag)?.[1] ?? '';
  return `${targetVersion}${suffix}`;
}

/** Whether a tag names a version; the definition of the resource takes the same for a target. */
export const isVersionTag = (tag: string): boolean =>
  tag.length <= 128 && /^v?[0-9]+\.[0-9]+(\.[0-9]+)?(-[A-Za-z0-9_.-]+)?$/.test(tag);

/** The tag of an image, by which pods and StatefulSets say which version they run. */
export function tagOf(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1);
  const colon = name.indexOf(':');
  return colon < 0 ? 'latest' : name.slice(colon + 1).replace(/@.*$/, '');
}

/**
 * Whether a server of the first version reads what one of the second has written. From 9 on the files have a format
 * that 8 refuses; within a major version, and forwards, they were read in a trial of each pair.
 */
export function readsDataOf(reader: string, writer: string): boolean {
  const [mine, theirs] = [parseVersion(reader), parseVersion(writer)];
  if (mine === null || theirs === null) return false;
  return mine[0] === theirs[0] || isOlder(theirs, mine);
}

/** Whether a server's version is the one that a tag names; one that says nothing, or a tag that is no version, is believed. */
export function isVersionOf(version: string | undefined, tag: string): boolean {
  const named = /^v?(\d+(?:\.\d+)*)/.exec(tag)?.[1];
  if (version === undefined || named === undefined) return true;
  return version === named || version.startsWith(`${named}.`);
}
