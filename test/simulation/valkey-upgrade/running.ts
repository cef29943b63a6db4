import { DEFAULT_SPEC } from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';
import type { ValkeyUpgradeSpec } from '../../../workflows/valkey-upgrade/domain/resource.ts';
import { ID, openStage } from '../valkey-cluster/stage.ts';
import type { ValkeyWorld } from '../valkey-cluster/world.ts';
import type { WorldUpgrade } from '../valkey-cluster/world-upgrades.ts';

export const image = (tag: string) => ({ image: { ...DEFAULT_SPEC.image, tag } });

export const imagesOf = (world: ValkeyWorld): readonly string[] => [
  ...new Set(world.pods.map((pod) => pod.image)),
];

/** A cluster on 9.0.0 in peace, and words to upgrade it. */
export async function running(spec: Parameters<ValkeyWorld['apply']>[0] = {}, options = {}) {
  const stage = openStage(options);
  const { world, engine, hint, settles, until } = stage;
  hint(world.apply({ ...image('9.0.0'), ...spec }));
  await settles('Running');
  const upgrade = (
    name: string,
    targetVersion: string,
    more: Partial<ValkeyUpgradeSpec> = {},
  ): WorldUpgrade => {
    hint(
      world.upgrades.create(
        name,
        { clusterRef: { name: 'cache' }, targetVersion, ...more },
        engine.agenda.nowMs,
      ),
    );
    const found = world.upgrades.all.find(({ resource }) => resource.name === name);
    if (found === undefined) throw new Error(`there is no upgrade ${name}`);
    return found;
  };
  const ends = async (of: WorldUpgrade, phase: string): Promise<void> => {
    await until(`${of.resource.name} is ${phase}`, () => of.status?.phase === phase);
    await settles('Running');
  };
  return { ...stage, upgrade, ends };
}

/** The workflow of what is under way. */
export const operationOf = (engine: Awaited<ReturnType<typeof running>>['engine']): string | null =>
  (engine.query(ID, 'status') as { readonly operation: { readonly workflowId: string } | null }).operation
    ?.workflowId ?? null;
