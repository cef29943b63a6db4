import { API_GROUP, API_VERSION } from '../../workflows/valkey-cluster/domain/names.ts';
import { UPGRADE_KIND, type ShardStatus } from '../../workflows/valkey-upgrade/domain/resource.ts';
import { ApiError, type KubernetesObject } from '../../deploy/local/kubernetes/api.ts';
import type { ClusterWorld } from './cluster-world.ts';

/** An upgrade as tests read it. */
export interface UpgradeSeen extends KubernetesObject {
  readonly status?: {
    readonly phase?: string;
    readonly message?: string;
    readonly progress?: string;
    readonly currentShard?: number;
    readonly errorMessage?: string;
    readonly rollbackPossibleUntil?: string;
    readonly shardStatuses?: readonly ShardStatus[];
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
  };
}

const LIMIT_SECONDS = 280;

const pathOf = (world: ClusterWorld, name: string): string =>
  `/apis/${API_GROUP}/v1alpha1/namespaces/${world.namespace}/valkeyupgrades/${name}`;

/** Creates or changes an upgrade as `kubectl apply --server-side` does. */
export async function applyUpgrade(
  world: ClusterWorld,
  name: string,
  targetVersion: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<UpgradeSeen> {
  const body = {
    apiVersion: API_VERSION,
    kind: UPGRADE_KIND,
    metadata: { name, namespace: world.namespace },
    spec: { clusterRef: { name: world.name }, targetVersion, ...more },
  };
  const path = `${pathOf(world, name)}?fieldManager=test&force=true`;
  return (await world.api.send('PATCH', path, body, 'application/apply-patch+yaml')) as UpgradeSeen;
}

export async function readUpgrade(world: ClusterWorld, name: string): Promise<UpgradeSeen | null> {
  try {
    return (await world.api.send('GET', pathOf(world, name))) as UpgradeSeen;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

export async function deleteUpgrade(world: ClusterWorld, name: string): Promise<void> {
  await world.api.send('DELETE', pathOf(world, name));
}

/** Waits until an upgrade says so; what it said last is in the error. */
export function awaitUpgrade(
  world: ClusterWorld,
  name: string,
  what: string,
  holds: (status: NonNullable<UpgradeSeen['status']>) => boolean,
): Promise<UpgradeSeen> {
  return world.until(async () => {
    const seen = await readUpgrade(world, name);
    return seen?.status !== undefined && holds(seen.status)
      ? { found: seen }
      : { missing: `${name}: ${what}; it says ${JSON.stringify(seen?.status ?? null)}` };
  }, LIMIT_SECONDS);
}

/** Waits until an upgrade has ended in a phase. */
export const awaitUpgradePhase = (world: ClusterWorld, name: string, phase: string): Promise<UpgradeSeen> =>
  awaitUpgrade(world, name, phase, (status) => status.phase === phase);

/** The tags that the pods of a cluster run with. */
export async function tagsOf(world: ClusterWorld): Promise<readonly string[]> {
  const pods = await world.list('pods');
  const images = pods.map((pod) => {
    const { spec } = pod as unknown as {
      readonly spec: { readonly containers: readonly { image: string }[] };
    };
    return spec.containers[0]?.image.split(':').at(-1) ?? '';
  });
  return [...new Set(images)].toSorted();
}
