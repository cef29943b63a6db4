import type { ValkeyPlan } from '../../valkey-cluster/domain/commands.ts';
import { API_GROUP } from '../../valkey-cluster/domain/names.ts';
import type { ValkeyObservation } from '../../valkey-cluster/domain/observation.ts';
import { failedAttempt, fromTagOf, holdVersion, isUnderWay, judgeUpgrades, phaseOf } from './judgement.ts';
import { isOver } from './phases.ts';
import { leftOutOf, recordOf } from './record.ts';
import { planRollback, planUpgrade, type UpgradeWish } from './plan.ts';
import {
  DEFAULT_UPGRADE,
  strategyOf,
  tagFor,
  type ValkeyUpgradeResource,
  type ValkeyUpgradeSpec,
} from './resource.ts';

/** The spec of the upgrade that a changed tag of the cluster stands for. */
export const specForTag = (cluster: string, tag: string): ValkeyUpgradeSpec => ({
  ...DEFAULT_UPGRADE,
  clusterRef: { name: cluster },
  targetVersion: tag,
});

/** On an upgrade: the tag of the cluster's spec that it was created for. */
export const FOR_TAG_ANNOTATION = `${API_GROUP}/for-tag`;

/** The name of that upgrade: one for each generation of the cluster. */
export const nameForTag = ({ name, generation }: ValkeyObservation['cluster']): string =>
  `${name}-g${generation}`;

/** What the upgrade of a cluster is to do, whether a resource or a changed tag asks for it; null when nobody does. */
export function wishOf(
  observed: ValkeyObservation,
): (UpgradeWish & { readonly spec: ValkeyUpgradeSpec }) | null {
  const { active } = judgeUpgrades(observed);
  const { name, spec: cluster, wantedTag } = observed.cluster;
  if (active === null && (wantedTag === undefined || failedAttempt(observed) !== null)) return null;
  const spec = active?.spec ?? specForTag(name, wantedTag ?? cluster.image.tag);
  const from = fromTagOf(observed, active);
  const shape = shapeOf(observed, active);
  return {
    spec,
    from,
    to: tagFor(spec.targetVersion, from),
    ...shape,
    strategy: strategyOf(spec, shape.replicasPerMaster),
    maxUnavailableShards: spec.maxUnavailableShards,
    withoutVolumes: !cluster.persistence.enabled,
    leftOut: active === null ? [] : leftOutOf(recordOf(active).shards),
  };
}

/** How many masters and replicas the cluster is to have afterwards: what it had when the upgrade began. */
function shapeOf(
  { cluster }: ValkeyObservation,
  active: ValkeyUpgradeResource | null,
): Pick<UpgradeWish, 'masters' | 'replicasPerMaster'> {
  const { masters, replicasPerMaster } = cluster.spec;
  if (active === null || !isUnderWay(active)) return { masters, replicasPerMaster };
  const { shards, replicasPerMaster: noted } = recordOf(active);
  return {
    masters: shards.length === 0 ? masters : shards.length,
    replicasPerMaster: noted ?? replicasPerMaster,
  };
}

/** The cluster as it would be found right after an upgrade was created; in words why that would be refused, if so. */
export function withUpgrade(
  observed: ValkeyObservation,
  name: string,
  spec: Partial<ValkeyUpgradeSpec> & Pick<ValkeyUpgradeSpec, 'clusterRef' | 'targetVersion'>,
): { readonly observed: ValkeyObservation } | { readonly refused: string } {
  const { namespace } = observed.cluster;
  const known = observed.upgrades?.find((one) => one.name === name);
  const wished: ValkeyUpgradeResource = {
    namespace,
    name,
    uid: known?.uid ?? '',
    generation: known?.generation ?? 1,
    // Later than all others, so that it is judged after them.
    createdAt: known?.createdAt ?? '9999-12-31T23:59:59Z',
    deleting: false,
    spec: { ...DEFAULT_UPGRADE, ...spec },
    status: known?.status ?? null,
  };
  const others = (observed.upgrades ?? []).filter((one) => one.name !== name);
  const asked = holdVersion({ ...observed, upgrades: [...others, wished] });
  const refused = judgeUpgrades(asked).refused.find(({ upgrade }) => upgrade === wished);
  if (refused !== undefined) return { refused: refused.message };
  return isOver(phaseOf(wished))
    ? { refused: `the upgrade ${name} is ${phaseOf(wished)} already: give another one another name` }
    : { observed: asked };
}

/** The plan of a cluster with its upgrades: whatever else is wanted comes first, unless an upgrade is under way. */
export function planWithUpgrades(
  observed: ValkeyObservation,
  carriedOut: number | null,
  base: ValkeyPlan,
): ValkeyPlan {
  if (carriedOut === null || observed.cluster.deleting) return base;
  const wish = wishOf(observed);
  if (wish === null) return base;
  const { active } = judgeUpgrades(observed);
  if (base.steps.length > 0 && (active === null || !isUnderWay(active))) return base;
  return active !== null && phaseOf(active) === 'RollingBack'
    ? planRollback(observed, wish)
    : planUpgrade(observed, wish);
}
