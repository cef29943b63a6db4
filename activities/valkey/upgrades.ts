import { z } from 'zod';
import type { UpgradePhase } from '../../workflows/valkey-upgrade/domain/phases.ts';
import type {
  ShardStatus,
  ValkeyUpgradeResource,
  ValkeyUpgradeSpec,
} from '../../workflows/valkey-upgrade/domain/resource.ts';
import type { ShardState } from '../../workflows/valkey-upgrade/domain/shard-states.ts';
import type { CustomObject } from '../kubernetes/objects.ts';
import type { ValkeyClients } from './access.ts';

/**
 * Every phase and every state by its own name. An activity takes only types from a domain, so they are repeated here; one
 * that is missing, or that the domain does not have, does not compile.
 */
type Names<T extends string> = { readonly [name in T]: name };

const PHASES = {
  Pending: 'Pending',
  PreChecks: 'PreChecks',
  InProgress: 'InProgress',
  Completed: 'Completed',
  Failed: 'Failed',
  RollingBack: 'RollingBack',
  RolledBack: 'RolledBack',
} as const satisfies Names<UpgradePhase>;

const STATES = {
  Pending: 'Pending',
  UpgradingReplicas: 'UpgradingReplicas',
  WaitingForSync: 'WaitingForSync',
  FailingOver: 'FailingOver',
  WaitingForClusterStable: 'WaitingForClusterStable',
  UpgradingOldMaster: 'UpgradingOldMaster',
  Completed: 'Completed',
  Failed: 'Failed',
  Skipped: 'Skipped',
} as const satisfies Names<ShardState>;

/** What plans rely on; the API server has filled in the defaults. */
const spec = z.object({
  clusterRef: z.object({ name: z.string(), namespace: z.string().optional() }),
  targetVersion: z.string(),
  replicationSyncTimeoutSeconds: z.int(),
  podReadyTimeoutSeconds: z.int(),
  stabilitySeconds: z.int(),
  strategy: z.enum(['InPlace', 'Surge']).optional(),
  approval: z.enum(['None', 'BeforeFirstFailover', 'EachShard', 'PointOfNoReturn']),
  bakeSeconds: z.int(),
  rollbackOnFailure: z.boolean(),
  maxUnavailableShards: z.int(),
});

/** The status that we wrote ourselves. */
const status = z.object({
  phase: z.enum(PHASES),
  observedGeneration: z.int().default(0),
  fromTag: z.string().nullable().default(null),
  startedAt: z.string().nullable().default(null),
  completedAt: z.string().nullable().default(null),
  errorMessage: z.string().nullable().default(null),
  replicasPerMaster: z.int().nullable().default(null),
  shardStatuses: z.array(z.looseObject({ shardIndex: z.int(), status: z.enum(STATES) })).default([]),
});

/** The upgrades of one cluster, oldest first; none where the definition of the resource is not installed. */
export async function listUpgrades(
  { kubernetes, naming }: ValkeyClients,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<readonly ValkeyUpgradeResource[]> {
  const kind = { apiVersion: naming.apiVersion, kind: naming.upgradeKind };
  if (!(await kubernetes.has(kind.apiVersion, kind.kind))) return [];
  const { items } = await kubernetes.list<CustomObject>({ ...kind, namespace });
  return items
    .flatMap((object) => parseUpgrade(object, namespace, naming.forTagAnnotation))
    .filter((upgrade) => upgrade.spec.clusterRef.name === name)
    .sort((a, b) =>
      a.createdAt === b.createdAt ? (a.name < b.name ? -1 : 1) : a.createdAt < b.createdAt ? -1 : 1,
    );
}

/** One that an older definition let through and that cannot be worked with is nobody's wish. */
function parseUpgrade(
  object: CustomObject,
  namespace: string,
  forTag: string,
): readonly ValkeyUpgradeResource[] {
  const parsed = spec.safeParse(object.spec);
  if (!parsed.success) return [];
  const { metadata } = object;
  const known = status.safeParse(object.status);
  return [
    {
      namespace: metadata.namespace ?? namespace,
      name: metadata.name,
      uid: metadata.uid,
      generation: metadata.generation ?? 0,
      createdAt: metadata.creationTimestamp ?? '',
      deleting: metadata.deletionTimestamp !== undefined,
      ...(metadata.annotations?.[forTag] === undefined ? {} : { automatic: true }),
      spec: withoutAbsent(parsed.data) as ValkeyUpgradeSpec,
      status: known.success
        ? { ...known.data, shardStatuses: known.data.shardStatuses as unknown as readonly ShardStatus[] }
        : null,
    },
  ];
}

/** Optional fields are absent, not undefined, on the other side of Temporal's JSON; here too, so that both are equal. */
const withoutAbsent = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;
