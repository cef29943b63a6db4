import { Audit, type AuditOptions, type AuditReport } from '../../valkey/audit.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { useStack } from '../../../deploy/local/testing.ts';
import { applyUpgrade, awaitUpgradePhase, type UpgradeSeen } from '../../valkey/upgrade-world.ts';

/** What every cluster of these tests is made with. */
export const BASE = {
  auth: { secretRef: { name: 'cache-auth' } },
  persistence: { size: '64Mi', retention: 'Delete' },
} as const;

/** A running cluster on some version. */
export async function clusterOn(
  tag: string,
  replicasPerMaster: number,
  image: { readonly allowDowngrade?: boolean } = {},
): Promise<ClusterWorld> {
  const world = await ClusterWorld.create(await useStack());
  await world.applyWithSecret({ ...BASE, replicasPerMaster, image: { tag, ...image } });
  await world.awaitPhase('Running');
  return world;
}

/** Does something while clients write and read, and answers what they saw. */
export async function underLoad<T>(
  world: ClusterWorld,
  work: () => Promise<T>,
  options: AuditOptions = {},
): Promise<{ readonly report: AuditReport; readonly result: T }> {
  const audit = await Audit.start(world, options);
  try {
    const result = await work();
    return { report: await audit.stop(), result };
  } finally {
    await audit.stop();
  }
}

/** Upgrades under load until it has ended as told. */
export async function upgradeUnderLoad(
  world: ClusterWorld,
  name: string,
  target: string,
  end: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly report: AuditReport; readonly seen: UpgradeSeen }> {
  const { report, result } = await underLoad(world, async () => {
    await applyUpgrade(world, name, target, more);
    const seen = await awaitUpgradePhase(world, name, end);
    await world.awaitPhase('Running');
    return seen;
  });
  console.log(JSON.stringify({ name, target, ...more, shards: result.status?.shardStatuses, ...report }));
  return { report, seen: result };
}

/** The tag that the spec of a cluster asks for. */
export async function wantedTag(world: ClusterWorld): Promise<string | undefined> {
  const cluster = (await world.read()) as {
    readonly spec?: { readonly image?: { readonly tag?: string } };
  } | null;
  return cluster?.spec?.image?.tag;
}
