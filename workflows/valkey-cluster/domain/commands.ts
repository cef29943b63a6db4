import type { Plan, Step } from '../../shared/plan.ts';
import type { SlotRange } from './observation.ts';

/** Everything that a plan can ask to be done to a cluster. Shards are named by number, never by who is master. */
export type ValkeyCommand =
  /** The shard's StatefulSet exists, up to date, with this many pods; with a tag, an upgrade sets its version. */
  | { readonly kind: 'CreateShard'; readonly shard: number; readonly pods: number; readonly tag?: string }
  /** All pods of these shards are Ready. */
  | { readonly kind: 'AwaitPods'; readonly shards: readonly number[]; readonly pods: number }
  /** The nodes of these shards and all others know each other. */
  | { readonly kind: 'MeetNode'; readonly shards: readonly number[] }
  /** The shard's master serves slots that nobody serves. */
  | {
      readonly kind: 'AssignSlots';
      readonly shard: number;
      readonly ranges: readonly SlotRange[];
      readonly slotCount: number;
    }
  /** Every other node of the shard follows its master and is in sync. */
  | { readonly kind: 'AttachReplica'; readonly shard: number; readonly replicas: number }
  /** One job: slots with their keys go from the master of one shard to that of another. */
  | {
      readonly kind: 'MigrateSlots';
      readonly from: number;
      readonly to: number;
      readonly ranges: readonly SlotRange[];
      readonly slotCount: number;
    }
  /** A replica becomes master of its shard, and its master a replica; of a master that is lost it takes over, without a vote where no majority is left to give one. */
  | {
      readonly kind: 'HandOver';
      readonly shard: number;
      readonly from: string;
      readonly to: string;
      readonly takeOver?: true | 'voted';
    }
  /** No node that stays knows these any more. */
  | { readonly kind: 'ForgetNode'; readonly shard: number | null; readonly nodes: readonly string[] }
  /** The shard's StatefulSet shrinks to this many pods. */
  | { readonly kind: 'RemoveReplica'; readonly shard: number; readonly pods: number }
  /** The shard's StatefulSet is gone. */
  | { readonly kind: 'RemoveShard'; readonly shard: number }
  /** The pod is created anew and Ready, and a replica is in sync again; a fresh one begins with an empty volume. */
  | { readonly kind: 'RestartPod'; readonly shard: number; readonly pod: string; readonly fresh?: true }
  /** All servers take the password of the spec's Secret, beside those that they took before. */
  | { readonly kind: 'AddPassword'; readonly servers: number }
  /** The older passwords are refused by all servers. */
  | { readonly kind: 'DropPassword'; readonly servers: number }
  /** All servers have the users of the ACL Secret, and no others. */
  | { readonly kind: 'ApplyAcl'; readonly servers: number }
  /** The node's data is saved as it is now, and the file kept on its volume. */
  | { readonly kind: 'Snapshot'; readonly shard: number; readonly pod: string }
  /** The cluster is whole, or nothing of it is left. */
  | {
      readonly kind: 'VerifyHealth';
      readonly expect: 'healthy' | 'gone';
      readonly masters: number;
      readonly replicasPerMaster: number;
    };

export type ValkeyStep = Step<ValkeyCommand>;
export type ValkeyPlan = Plan<ValkeyCommand>;
/** The step of one kind. */
export type ValkeyStepOf<Kind extends ValkeyCommand['kind']> = Extract<ValkeyStep, { readonly kind: Kind }>;
