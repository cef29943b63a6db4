import { DEFAULT_SPEC } from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';
import type { ValkeyUpgradeSpec } from '../../../workflows/valkey-upgrade/domain/resource.ts';
import type { Engine } from '../engine/engine.ts';
import type { Hint } from '../../../workflows/shared/messages.ts';
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
export const operationOf = (engine: Engine): string | null =>
  (engine.query(ID, 'status') as { readonly operation: { readonly workflowId: string } | null }).operation
    ?.workflowId ?? null;

/** The servers of a shard change their roles by themselves, as after the loss of its master. */
export function swapRoles(world: ValkeyWorld, shard: number): void {
  const servers = world.pods.filter((pod) => pod.shard === shard).map((pod) => world.server(pod.name));
  const master = servers.find((server) => (server?.slots.length ?? 0) > 0);
  const heir = servers.find((server) => server?.masterId === master?.id);
  if (master === undefined || heir === undefined) throw new Error(`shard ${shard} has no two servers`);
  Object.assign(heir, { slots: master.slots, masterId: null });
  Object.assign(master, { slots: [], masterId: heir.id });
}

/** Agrees to the plan as it is. */
export async function approve(engine: Engine, by = 'ann'): Promise<void> {
  const { hash } = engine.query(ID, 'plan') as { readonly hash: string };
  await engine.update(ID, 'approve', { hash, by, reason: 'looked at it' });
}

/** Changes the spec of an upgrade, as `kubectl apply` does. */
export function change({ resource }: WorldUpgrade, spec: Partial<ValkeyUpgradeSpec>): Hint {
  const generation = resource.generation + 1;
  Object.assign(resource, { generation, spec: { ...resource.spec, ...spec } });
  return { kind: 'ValkeyUpgrade', uid: resource.uid, generation };
}
