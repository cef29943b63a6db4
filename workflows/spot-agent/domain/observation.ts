/** Where an instance runs: AWS takes capacity back by type and zone together. */
export interface Pool {
  readonly instanceType: string;
  readonly az: string;
}

/** What an instance is paid by. */
export type Market = 'spot' | 'on-demand';

/** What replicas of an agent are launched by, as its configuration says. */
export interface LaunchConfig {
  readonly imageId: string;
  readonly pools: readonly (Pool & { readonly subnetId: string | null })[];
  /** Whether a termination notice may be answered with an instance at the full price. */
  readonly onDemand: boolean;
  readonly maxMovesPerHour: number;
}

/** A notice that AWS has given for an instance; times are those of the notice, not of its arrival. */
export interface Notice {
  readonly kind: 'rebalance' | 'termination';
  readonly instanceId: string;
  readonly receivedAtMs: number;
  /** When the instance goes; a rebalance recommendation has no such time. */
  readonly deadlineMs: number | null;
}

/** The agent's row, as planning needs it. */
export interface SpotAgent {
  readonly id: string;
  readonly clientId: string;
  readonly uid: string;
  readonly generation: number;
  readonly epoch: number;
  readonly region: string;
  readonly autoSwitch: boolean;
  readonly manualReplica: boolean;
  readonly autoTerminate: boolean;
  readonly terminateWaitSeconds: number;
  readonly retentionDays: number;
  readonly launch: LaunchConfig | null;
  readonly notice: Notice | null;
  /** The instance that a person wants to be PRIMARY, or null. */
  readonly switchTarget: string | null;
  readonly lastHeartbeatMs: number | null;
  readonly phase: string | null;
  readonly carriedOut: number | null;
  /** How many replicas it ever had. */
  readonly replicasEver: number;
  /** When promotions of the last hour were. */
  readonly movesMs: readonly number[];
}

/** What the column `instance_status` may say. */
export type InstanceStatus =
  | 'launching'
  | 'running_primary'
  | 'running_replica'
  | 'promoting'
  | 'terminating'
  | 'zombie'
  | 'terminated';

/** A row of `instances` that is not long closed. */
export interface SpotInstance extends Pool {
  readonly id: string;
  readonly status: InstanceStatus;
  readonly market: Market;
  readonly createdAtMs: number;
  /** When it was retired: a zombie's time runs from here. */
  readonly retiredAtMs: number | null;
  readonly interruptedAtMs: number | null;
}

/** What the column `replica_instances.status` may say. */
export type ReplicaStatus = 'launching' | 'syncing' | 'ready' | 'promoted' | 'failed' | 'terminated';

/** A row of `replica_instances`: what is being prepared, or was. */
export interface SpotReplica extends Pool {
  readonly id: string;
  readonly instanceId: string | null;
  readonly market: Market;
  readonly emergency: boolean;
  readonly status: ReplicaStatus;
  readonly createdAtMs: number;
  readonly lastSyncMs: number | null;
  readonly error: string | null;
}

/** All rows of one agent, at one committed instant. */
export interface SpotRows {
  readonly nowMs: number;
  readonly agent: SpotAgent;
  readonly instances: readonly SpotInstance[];
  readonly replicas: readonly SpotReplica[];
}

/** What EC2 says of an instance that a row names, or that is tagged as this agent's. */
export interface CloudInstance extends Pool {
  readonly id: string;
  readonly state: 'pending' | 'running' | 'stopping' | 'stopped' | 'shutting-down' | 'terminated';
  /** Whether its tags say that it is this agent's: nothing else is ever terminated. */
  readonly ours: boolean;
  /** The replica that it was launched for, as its tags say. */
  readonly replica: string | null;
  readonly launchedAtMs: number;
}

/** The newest price of a pool, in dollars an hour. */
export interface PoolPrice extends Pool {
  readonly price: number;
}

/** The rows, and what EC2 says; null where EC2 could not be asked. */
export interface SpotObservation extends SpotRows {
  readonly cloud: {
    readonly instances: readonly CloudInstance[];
    readonly prices: readonly PoolPrice[];
  } | null;
}

/** A pool as people and metrics name it. */
export const poolName = ({ instanceType, az }: Pool): string => `${instanceType}/${az}`;

/** Whether two instances share what AWS takes back together. */
export const isSamePool = (one: Pool, other: Pool): boolean =>
  one.instanceType === other.instanceType && one.az === other.az;

/** The PRIMARY's row, of which the database holds one at most. */
export const primaryOf = ({ instances }: Pick<SpotRows, 'instances'>): SpotInstance | null =>
  instances.find((one) => one.status === 'running_primary') ?? null;
