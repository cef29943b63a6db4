import type { ResourceRef } from '../../workflows/shared/messages.ts';
import type { Remembrance } from '../../workflows/spot-agent/domain/orphans.ts';
import type { Market, Notice, SpotRows } from '../../workflows/spot-agent/domain/observation.ts';

/** Which instance is to be the PRIMARY, and which epoch the caller has seen. */
export interface Promotion {
  readonly agentId: string;
  readonly instanceId: string;
  readonly expectedEpoch: number;
}

/** A notice as it came in, and from where. */
export interface IncomingNotice extends Notice {
  readonly agentId: string;
  /** The notice's own time, by which a repetition is known. */
  readonly atMs: number;
  readonly source: string;
}

/** What a notice has changed: nothing, when it was known or came too late. */
export type NoticeEffect = 'new' | 'known' | 'replica' | 'past';

/** A replica that is about to be launched. */
export interface IntendedReplica {
  readonly id: string;
  readonly agentId: string;
  readonly clientId: string;
  readonly instanceType: string;
  readonly region: string;
  readonly az: string;
  readonly market: Market;
  readonly emergency: boolean;
  readonly reason: string;
}

/** All that workflows may ask of the database of the spot agents. */
export interface MysqlActivities {
  /** Reads all rows of one agent at one committed instant; null when there is no such agent. */
  readSpotRows(ref: ResourceRef): Promise<SpotRows | null>;

  /** The regions in which any agent runs or ever ran. */
  readSpotRegions(): Promise<readonly string[]>;

  /** Reads which of these agents have a row, and what is remembered of these instances and replicas. */
  readSpotRemembrance(input: {
    readonly agentIds: readonly string[];
    readonly instanceIds: readonly string[];
    readonly replicaIds: readonly string[];
  }): Promise<Remembrance>;

  /**
   * Makes an instance the PRIMARY of its agent by the stored procedure, which compares and raises the epoch. A
   * repetition finds the instance PRIMARY at exactly the epoch after the expected one, and that is success.
   */
  promoteSpotInstance(
    promotion: Promotion,
  ): Promise<{ readonly epoch: number; readonly repeated: boolean; readonly seconds: number }>;

  /** Writes a notice down, however often and from wherever it comes: one effect. Answers the rows as they are then. */
  recordSpotNotice(
    notice: IncomingNotice,
  ): Promise<{ readonly effect: NoticeEffect; readonly rows: SpotRows } | null>;

  /** Forgets a notice, unless another one has taken its place. */
  clearSpotNotice(input: {
    readonly agentId: string;
    readonly instanceId: string;
    readonly notice: string;
  }): Promise<void>;

  /** Writes down what is about to be launched, before it is; a row that is there stays as it is. */
  recordSpotReplica(replica: IntendedReplica): Promise<void>;

  /** Gives a replica its instance, and the instance its row; a replica that has one keeps it. */
  linkSpotReplica(input: { readonly replica: string; readonly instanceId: string }): Promise<void>;

  /** Ends a replica, so that nothing promotes it any more; refuses one that has become PRIMARY. */
  closeSpotReplica(input: {
    readonly replica: string;
    readonly to: 'failed' | 'terminated';
    readonly error: string | null;
  }): Promise<void>;

  /** Waits until one of the replicas is ready, none of them can be, or the time is over; says which. */
  awaitSpotReplica(input: {
    readonly replicas: readonly string[];
    readonly untilMs: number;
  }): Promise<{ readonly ready: string | null; readonly message: string }>;

  /** Marks an instance terminated, whose end EC2 has confirmed; refuses a PRIMARY. */
  closeSpotInstance(input: { readonly instanceId: string; readonly event: string }): Promise<void>;

  /** Writes the phase of an agent; another agent under the same id is left alone. */
  writeSpotStatus(input: {
    readonly agentId: string;
    readonly uid: string;
    readonly phase: string;
    readonly message: string;
    readonly carriedOut: number | null;
  }): Promise<void>;

  /** Adds to the audit trail; an event of the same key is written once. */
  recordSpotEvent(input: {
    readonly key: string | null;
    /** Null for what concerns the fleet. */
    readonly agentId: string | null;
    readonly clientId: string | null;
    readonly instanceId: string | null;
    readonly type: string;
    readonly severity: 'info' | 'warning' | 'critical';
    readonly message: string;
  }): Promise<void>;
}
