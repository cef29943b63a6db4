import type {
  CloudInstance,
  Notice,
  SpotAgent,
  SpotInstance,
  SpotObservation,
  SpotReplica,
} from '../../../workflows/spot-agent/domain/observation.ts';

/** When all samples are looked at. */
export const NOW_MS = Date.UTC(2026, 0, 1, 12);

/** So many seconds before then. */
export const ago = (seconds: number): number => NOW_MS - seconds * 1000;

/** An agent that may launch in three pools beside the PRIMARY's. */
export const sampleAgent = (change: Partial<SpotAgent> = {}): SpotAgent => ({
  id: 'agent-1',
  clientId: 'acme',
  uid: '00000000-0000-0000-0000-000000000001',
  generation: 3,
  epoch: 5,
  region: 'us-east-1',
  autoSwitch: false,
  manualReplica: false,
  autoTerminate: false,
  terminateWaitSeconds: 300,
  retentionDays: 30,
  launch: {
    imageId: 'ami-12345678',
    pools: [
      { instanceType: 'm5.large', az: 'us-east-1a', subnetId: null },
      { instanceType: 'm5.large', az: 'us-east-1b', subnetId: null },
      { instanceType: 'c5.large', az: 'us-east-1a', subnetId: null },
      { instanceType: 'r5.large', az: 'us-east-1c', subnetId: null },
    ],
    onDemand: true,
    maxMovesPerHour: 4,
  },
  notice: null,
  switchTarget: null,
  lastHeartbeatMs: ago(10),
  phase: 'Serving',
  carriedOut: 3,
  replicasEver: 7,
  movesMs: [],
  ...change,
});

/** A row of `instances`; as it is, the PRIMARY. */
export const sampleInstance = (change: Partial<SpotInstance> = {}): SpotInstance => ({
  id: 'i-primary',
  instanceType: 'm5.large',
  az: 'us-east-1a',
  status: 'running_primary',
  market: 'spot',
  createdAtMs: ago(86_400),
  retiredAtMs: null,
  interruptedAtMs: null,
  ...change,
});

/** A row of `replica_instances`; as it is, ready. */
export const sampleReplica = (change: Partial<SpotReplica> = {}): SpotReplica => ({
  id: 'rep-1',
  instanceId: 'i-replica',
  instanceType: 'c5.large',
  az: 'us-east-1a',
  market: 'spot',
  emergency: false,
  status: 'ready',
  createdAtMs: ago(600),
  lastSyncMs: ago(5),
  error: null,
  ...change,
});

/** What EC2 says; as it is, that the PRIMARY runs. */
export const sampleCloud = (change: Partial<CloudInstance> = {}): CloudInstance => ({
  id: 'i-primary',
  instanceType: 'm5.large',
  az: 'us-east-1a',
  state: 'running',
  ours: true,
  replica: null,
  launchedAtMs: ago(86_400),
  ...change,
});

export const termination = (change: Partial<Notice> = {}): Notice => ({
  kind: 'termination',
  instanceId: 'i-primary',
  receivedAtMs: ago(1),
  deadlineMs: NOW_MS + 119_000,
  ...change,
});

export const rebalance = (change: Partial<Notice> = {}): Notice => ({
  kind: 'rebalance',
  instanceId: 'i-primary',
  receivedAtMs: ago(1),
  deadlineMs: null,
  ...change,
});

/** An agent whose PRIMARY serves, and what a test changes of it; rows that it names also run in EC2. */
export function sampleObservation(
  change: {
    readonly agent?: Partial<SpotAgent>;
    readonly instances?: readonly SpotInstance[];
    readonly replicas?: readonly SpotReplica[];
    readonly cloud?: SpotObservation['cloud'];
  } = {},
): SpotObservation {
  const replicas = change.replicas ?? [];
  const standing = replicas.flatMap((one) =>
    one.instanceId === null
      ? []
      : [
          sampleInstance({
            ...one,
            id: one.instanceId,
            status: one.status === 'ready' ? 'running_replica' : 'launching',
            retiredAtMs: null,
            interruptedAtMs: null,
          }),
        ],
  );
  const instances = change.instances ?? [sampleInstance(), ...standing];
  const running = instances.map((one) =>
    sampleCloud({ id: one.id, instanceType: one.instanceType, az: one.az }),
  );
  const prices = [
    { instanceType: 'm5.large', az: 'us-east-1b', price: 0.04 },
    { instanceType: 'c5.large', az: 'us-east-1a', price: 0.03 },
    { instanceType: 'r5.large', az: 'us-east-1c', price: 0.05 },
  ];
  return {
    nowMs: NOW_MS,
    agent: sampleAgent(change.agent),
    instances,
    replicas,
    cloud: change.cloud === undefined ? { instances: running, prices } : change.cloud,
  };
}
