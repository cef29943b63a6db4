import { defineUpdate } from '@temporalio/workflow';
import type { LifecycleTypes } from '../shared/lifecycle.ts';
import type { ResourceRef, StepProgress } from '../shared/messages.ts';
import type { OperationInput } from '../shared/operation.ts';
import type { ValkeyTypes } from '../valkey-cluster/contract.ts';
import type { ValkeyClusterResource } from '../valkey-cluster/domain/observation.ts';
import type { ShardStatus, ValkeyUpgradeSpec } from './domain/resource.ts';
import type { ShardEvent, ShardState } from './domain/shard-states.ts';

/** The types of one shard's way through an upgrade: the cluster's, but for the states. */
export interface ShardTypes extends LifecycleTypes {
  readonly observed: ValkeyTypes['observed'];
  readonly command: ValkeyTypes['command'];
  readonly activities: ValkeyTypes['activities'];
  readonly phase: ShardState;
  readonly event: ShardEvent;
}

/** What one shard is to become, and within which limits. */
export interface ShardOrder {
  readonly shard: number;
  readonly direction: 'upgrade' | 'rollback';
  /** The tag that every node of the shard is to run with. */
  readonly tag: string;
  /** How many pods the shard has when nobody upgrades it. */
  readonly pods: number;
  /** The cluster as it was when the upgrade began: what changes in its spec meanwhile comes after it. */
  readonly cluster: ValkeyClusterResource;
  readonly limits: Pick<
    ValkeyUpgradeSpec,
    'podReadyTimeoutSeconds' | 'replicationSyncTimeoutSeconds' | 'stabilitySeconds'
  >;
  readonly status: ShardStatus;
  /** The step before which a person must agree, when nobody has yet. */
  readonly gate: 'HandOver' | 'irreversible' | null;
}

/** What the workflow of one shard is started with. */
export interface ShardInput extends OperationInput<ShardTypes> {
  readonly order: ShardOrder;
}

/** What an upgrade is told by its cluster's workflow, and tells its shards: that a person agrees. */
export interface Agreement {
  readonly approvedBy: string;
}

/** Whether what was told is an agreement. */
export const isAgreement = (news: unknown): news is Agreement =>
  typeof news === 'object' && news !== null && 'approvedBy' in news;

/** What a dry run of an upgrade is asked: the plan for the cluster that it names, as if it were created now. */
export interface UpgradePlanInput {
  readonly ref: ResourceRef;
  readonly upgrade: {
    readonly name: string;
    readonly spec: Partial<ValkeyUpgradeSpec> & Pick<ValkeyUpgradeSpec, 'clusterRef' | 'targetVersion'>;
  };
}

/** Asks a running upgrade to leave a shard out that it has not begun yet. */
export interface ShardSkip {
  readonly shard: number;
  readonly reason: string;
}
export const skipShard = defineUpdate<{ readonly message: string }, [ShardSkip]>('skipShard');

/** Whether what was told is that a shard is to be left out. */
export const isShardSkip = (news: unknown): news is { readonly skip: ShardSkip } =>
  typeof news === 'object' && news !== null && 'skip' in news;

/** What a shard tells the upgrade that it is a part of. */
export interface ShardNews {
  readonly shard: ShardStatus;
  readonly steps: readonly StepProgress[];
  /** What it waits for a person to agree to, when it does. */
  readonly awaits: string | null;
}

export const SHARD_WORKFLOW = 'upgradeValkeyShard';
