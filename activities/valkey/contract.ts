import type { ObjectIdentity } from '../kubernetes/contract.ts';
import type { ResourceRef } from '../../workflows/shared/messages.ts';
import type { SlotRange, ValkeyObservation } from '../../workflows/valkey-cluster/domain/observation.ts';

/** How an activity reaches the servers of one cluster: by name only, so that no secret enters a history. */
export interface ValkeyAccess {
  readonly namespace: string;
  readonly cluster: string;
  readonly auth: {
    readonly secret: string;
    readonly key: string;
    readonly user: string;
    /** The Secret of ours with the passwords that servers may still have. */
    readonly kept?: string;
    /** The Secret with the users of an ACL file. */
    readonly acl?: { readonly secret: string; readonly key: string };
  } | null;
  readonly tls: { readonly secret: string } | null;
}

/** One server, fenced by the pod that it runs in: another pod at this address is `stale`. */
export interface ValkeyServer {
  readonly pod: string;
  readonly podUid: string;
  readonly ip: string;
  readonly port: number;
}

/** All that workflows may ask of Valkey. Each observes first, and finding the work done is success. */
export interface ValkeyActivities {
  /** Reads the resource, its objects, its pods and what every Valkey says, at once; null when the resource is gone. */
  observeValkeyCluster(ref: ResourceRef): Promise<ValkeyObservation | null>;

  /**
   * Gives fresh masters distinct config epochs and makes all servers know each other, both ways, until each sees each.
   * Servers that are `starting` are waited for until they answer.
   */
  meetValkeyNodes(input: {
    readonly access: ValkeyAccess;
    readonly servers: readonly ValkeyServer[];
    readonly starting?: true;
  }): Promise<{ readonly nodeIds: Readonly<Record<string, string>> }>;

  /** Assigns slots to a master that owns none of them yet; a slot that another node serves is refused. */
  assignValkeySlots(input: {
    readonly access: ValkeyAccess;
    readonly server: ValkeyServer;
    readonly ranges: readonly SlotRange[];
  }): Promise<{ readonly assigned: number }>;

  /** Makes a server that owns no slots a replica of the master, and waits until its link is up and it is in sync. */
  attachValkeyReplica(input: {
    readonly access: ValkeyAccess;
    readonly server: ValkeyServer;
    readonly masterId: string;
  }): Promise<{ readonly linkSeconds: number }>;

  /**
   * Moves slots with their keys between two masters, by one job for all ranges where the version has jobs, and key by
   * key where it has not or they fail. Slots that have arrived are left alone; slots of a third node are refused.
   */
  migrateValkeySlots(input: {
    readonly access: ValkeyAccess;
    readonly source: ValkeyServer;
    readonly target: ValkeyServer;
    /** All masters, which must hear of it. */
    readonly servers: readonly ValkeyServer[];
    readonly ranges: readonly SlotRange[];
    /** What other moves take from the same source meanwhile: when such a slot is open, it is theirs. */
    readonly beside?: readonly SlotRange[];
  }): Promise<{
    readonly slots: number;
    readonly keys: number;
    readonly jobs: number;
    readonly slotsByKey: number;
    readonly seconds: number;
  }>;

  /** Cancels the migration jobs of a source, and closes slots that it has half given away: all, or those of some ranges. */
  cancelValkeyMigrations(input: {
    readonly access: ValkeyAccess;
    readonly source: ValkeyServer;
    readonly servers: readonly ValkeyServer[];
    readonly ranges?: readonly SlotRange[];
  }): Promise<{ readonly cancelled: number; readonly closed: number }>;

  /**
   * Makes a replica that is in sync, and that a majority knows, the master of its shard, without a lost write. Refuses
   * while slots of the shard move.
   */
  handOverValkeyMaster(input: {
    readonly access: ValkeyAccess;
    readonly server: ValkeyServer;
    /** All servers that must agree: the masters, and the nodes of the shard. */
    readonly servers: readonly ValkeyServer[];
  }): Promise<{ readonly gapMs: number; readonly epoch: number }>;

  /**
   * Makes a replica lead its shard without a vote, where no majority of masters is left to give one: only after a
   * person has said so. Refuses while its master, or a majority, can be reached.
   */
  takeOverValkeyMaster(input: {
    readonly access: ValkeyAccess;
    readonly server: ValkeyServer;
  }): Promise<{ readonly slots: number; readonly epoch: number }>;

  /**
   * Has a replica ask the other masters for their vote, after its master was lost: it would not by itself, once it has
   * restarted without it. Refuses while its master can be reached.
   */
  electValkeyMaster(input: {
    readonly access: ValkeyAccess;
    readonly server: ValkeyServer;
  }): Promise<{ readonly slots: number; readonly epoch: number }>;

  /** Gives running servers settings that need no restart; values that they have already are left alone. */
  configureValkeyServers(input: {
    readonly access: ValkeyAccess;
    readonly servers: readonly ValkeyServer[];
    readonly settings: readonly (readonly [directive: string, value: string])[];
  }): Promise<{ readonly changed: number }>;

  /**
   * Keeps the password of the spec's Secret, and gives it to all servers beside those that they have, for clients and for
   * replicas. With no servers it is kept only, as those that start read it themselves.
   */
  addValkeyPassword(input: {
    readonly access: ValkeyAccess;
    readonly owner: ObjectIdentity;
    readonly servers: readonly ValkeyServer[];
  }): Promise<{ readonly servers: number }>;

  /** Has all servers refuse every older password, once each of them takes the newest. */
  dropValkeyPasswords(input: {
    readonly access: ValkeyAccess;
    readonly owner: ObjectIdentity;
    readonly servers: readonly ValkeyServer[];
  }): Promise<{ readonly dropped: number }>;

  /** Gives all servers the users of the ACL Secret, and takes those away that it has no more. */
  applyValkeyAcl(input: {
    readonly access: ValkeyAccess;
    readonly owner: ObjectIdentity;
    readonly servers: readonly ValkeyServer[];
  }): Promise<{ readonly users: number; readonly removed: number }>;

  /** Resets the servers that leave, and makes those that stay forget these nodes. Refuses a node that serves slots. */
  forgetValkeyNodes(input: {
    readonly access: ValkeyAccess;
    readonly servers: readonly ValkeyServer[];
    readonly leaving: readonly ValkeyServer[];
    readonly nodeIds: readonly string[];
  }): Promise<{ readonly forgotten: number }>;

  /** Waits until all servers have agreed for so long, without a break, that the cluster is ok and every link is up. */
  awaitValkeyStability(input: {
    readonly access: ValkeyAccess;
    readonly servers: readonly ValkeyServer[];
    readonly stableSeconds: number;
  }): Promise<{ readonly seconds: number }>;

  /** Has a server save its data to its volume as it is now. */
  snapshotValkeyServer(input: {
    readonly access: ValkeyAccess;
    readonly server: ValkeyServer;
  }): Promise<{ readonly savedAt: number }>;

  /**
   * Waits until every server says ok, all slots are served once and all views agree; heartbeats what is still missing,
   * and answers with it when nothing has changed for a minute.
   */
  awaitValkeyHealth(input: {
    readonly access: ValkeyAccess;
    readonly servers: readonly ValkeyServer[];
    readonly masters: number;
    readonly replicasPerMaster: number;
  }): Promise<{ readonly slots: number; readonly nodes: number; readonly missing: string | null }>;
}
