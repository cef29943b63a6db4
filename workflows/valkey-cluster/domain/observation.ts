import type { ValkeyUpgradeResource } from '../../valkey-upgrade/domain/resource.ts';

/** Slots from first to last, both included. */
export type SlotRange = readonly [first: number, last: number];

/** A Valkey node as plans see it; the offline form of `keelson plan --observed`. */
export interface ValkeyNode {
  readonly id: string;
  readonly pod: string;
  /** Which shard it belongs to, by its pod's label: never by an ordinal. */
  readonly shard: number;
  readonly role: 'master' | 'replica';
  readonly masterId?: string | null;
  readonly slots: readonly SlotRange[];
  readonly zone: string;
  readonly ready: boolean;
  readonly usedMemory?: number;
  readonly maxMemory?: number;
  readonly keys?: number;
  readonly version?: string;
  readonly node?: string;
  readonly offset?: number;
  readonly linkUp?: boolean;
  /** Slots that this node still imports or gives away, left open by whoever began it. */
  readonly openSlots?: readonly {
    readonly slot: number;
    readonly direction: 'importing' | 'migrating';
    readonly peer: string;
  }[];
}

/** A pod of the cluster, with or without a Valkey that answers in it. */
export interface ValkeyPod {
  readonly name: string;
  readonly uid: string;
  readonly shard: number;
  readonly ip: string | null;
  readonly node: string | null;
  readonly zone: string | null;
  readonly phase: string;
  readonly ready: boolean;
  readonly terminating: boolean;
  readonly image: string | null;
  /** The `template-hash` annotation that it was created with; what only a restart changes is behind it. */
  readonly templateHash?: string | null;
  /** Why its container waits, e.g. `ErrImagePull: …`. */
  readonly waiting: string | null;
  /** The id of the Valkey node in it, when it answered. */
  readonly nodeId: string | null;
  /** Its deletion is overdue, and its machine will not carry it out: why, when it is so. */
  readonly stuck?: { readonly node: string; readonly why: 'gone' | 'out-of-service' | 'lost' } | null;
}

/** A member of the cluster that no pod stands for. */
export interface ValkeyOrphan {
  readonly id: string;
  readonly address: string;
  readonly role: 'master' | 'replica';
  readonly slots: readonly SlotRange[];
  readonly failed: boolean;
  /** Nobody that answered can reach it, whether a majority has agreed on that or not. */
  readonly unreachable?: boolean;
}

/** The StatefulSet of one shard. */
export interface ValkeyShardSet {
  readonly shard: number;
  readonly name: string;
  readonly uid: string;
  readonly replicas: number;
  readonly image: string;
  /** Its `applied-hash` annotation, when it was looked at. */
  readonly appliedHash?: string | null;
}

/** What the nodes themselves say of the cluster's health. */
export interface ValkeyHealth {
  /** `cluster_state:ok` on every node that answered. */
  readonly ok: boolean;
  readonly slotsAssigned: number;
  /** All nodes that answered agree on members, roles and slots. */
  readonly viewsAgree: boolean;
  readonly answered: number;
  readonly unreachable: readonly { readonly pod: string; readonly why: string }[];
  /** Pods that answered, and that another one that answered cannot reach: they must be introduced again. */
  readonly apart?: readonly string[];
}

/** The machines of Kubernetes, and those of them that may take a pod of the cluster. */
export interface ValkeyPlaces {
  readonly machines: number;
  readonly eligible: readonly { readonly name: string; readonly zone: string }[];
}

/** Something that the spec names and that is not there, or not usable: `Secret cache-auth has no key "password"`. */
export interface MissingDependency {
  readonly field: string;
  readonly message: string;
}

/** How far the servers are with what the Secrets of `spec.auth` say; no value of one is in it. */
export interface ValkeySecrets {
  /** The Secret's password is the newest of those that we keep, and all servers have been given it. */
  readonly kept: boolean;
  /** Pods whose servers take an older password only. */
  readonly lacking: readonly string[];
  /** How many older passwords are still valid. */
  readonly older: number;
  /** For how long all servers have had the newest, while older ones are valid. */
  readonly keptSeconds: number;
  /** The ACL Secret is not what the servers were given last. */
  readonly aclChanged: boolean;
}

/** The ClusterTopology of the specification: everything about one cluster, gathered once. */
export interface ValkeyObservation {
  readonly cluster: ValkeyClusterResource;
  readonly shards: readonly ValkeyShardSet[];
  readonly pods: readonly ValkeyPod[];
  readonly nodes: readonly ValkeyNode[];
  readonly orphans: readonly ValkeyOrphan[];
  readonly health: ValkeyHealth;
  readonly missing: readonly MissingDependency[];
  /** Absent without `spec.auth`, and where a Secret could not be read. */
  readonly secrets?: ValkeySecrets;
  /** Absent where the worker may not look at nodes. */
  readonly places?: ValkeyPlaces;
  /** Other objects that we own (Services, ConfigMap, PodDisruptionBudget, claims): `kind/name` to uid. */
  readonly owned: Readonly<Record<string, string>>;
  /** The upgrades that name this cluster, oldest first, when they were looked for. */
  readonly upgrades?: readonly ValkeyUpgradeResource[];
  /** The hashes that its objects should carry; seen, not computed: a later version that builds other objects must read a history as it was. */
  readonly intended?: ValkeyIntent;
}

/** The hashes of what a cluster's pods and objects should be. */
export interface ValkeyIntent {
  readonly templateHash: string;
  readonly appliedHash: string;
}

/** The resource itself, its defaults filled in by the API server. */
export interface ValkeyClusterResource {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly deleting: boolean;
  readonly finalizers: readonly string[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: ValkeyClusterSpec;
  /** The tag that the spec asks for, where the version that runs is another one: only an upgrade changes it. */
  readonly wantedTag?: string;
  /** The status as last written, for the phase to go on from. */
  readonly phase: string | null;
  readonly observedGeneration: number;
  /** The newest value of the rebalance annotation that was carried out. */
  readonly rebalancedFor?: string | null;
}

export interface ValkeyClusterSpec {
  readonly masters: number;
  readonly replicasPerMaster: number;
  readonly image: {
    readonly repository: string;
    readonly tag: string;
    readonly pullPolicy: 'Always' | 'IfNotPresent' | 'Never';
    readonly pullSecrets: readonly string[];
    readonly allowDowngrade: boolean;
  };
  readonly tls?: {
    readonly issuerRef?: { readonly name: string; readonly kind: string; readonly group: string };
    readonly secretName?: string;
    readonly duration: string;
    readonly renewBefore: string;
  };
  readonly auth?: {
    readonly secretRef: { readonly name: string; readonly key: string };
    readonly acl?: {
      readonly enabled: boolean;
      readonly configSecretRef?: { readonly name: string; readonly key: string };
      readonly adminUser: string;
    };
  };
  readonly persistence: {
    readonly enabled: boolean;
    readonly storageClassName?: string;
    readonly size: string;
    readonly aof: { readonly enabled: boolean; readonly fsync: 'always' | 'everysec' | 'no' };
    readonly rdb: { readonly enabled: boolean; readonly saveRules: readonly string[] };
    readonly retention: 'Retain' | 'Delete';
  };
  readonly resources: {
    readonly requests: Readonly<Record<string, string>>;
    readonly limits: Readonly<Record<string, string>>;
  };
  readonly scheduling: {
    readonly spreadMasters: boolean;
    readonly topologyKey: string;
    readonly nodeSelector: Readonly<Record<string, string>>;
    readonly tolerations: readonly Readonly<Record<string, string | number>>[];
  };
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly readService: {
    readonly enabled: boolean;
    readonly serviceType: string;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly metricsExporter: {
    readonly enabled: boolean;
    readonly image: string;
    readonly port: number;
    readonly resources?: {
      readonly cpuRequest: string;
      readonly memoryRequest: string;
      readonly cpuLimit: string;
      readonly memoryLimit: string;
    };
    readonly extraEnv?: Readonly<Record<string, string>>;
  };
  readonly replication: {
    readonly disklessSync: boolean;
    readonly disklessSyncDelay: number;
    readonly minReplicasToWrite: number;
    readonly minReplicasMaxLag: number;
  };
  readonly approvals: 'None' | 'Irreversible';
}
