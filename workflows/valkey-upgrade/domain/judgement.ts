import { transition } from '../../shared/transitions.ts';
import type { ValkeyObservation } from '../../valkey-cluster/domain/observation.ts';
import { isOlder, parseVersion } from '../../valkey-cluster/domain/version.ts';
import { isOver, UPGRADE_TABLE, type UpgradePhase } from './phases.ts';
import { isVersionTag, tagFor, tagOf, type ValkeyUpgradeResource } from './resource.ts';

/** All that upgrades are judged by. */
export type UpgradeFacts = Pick<ValkeyObservation, 'cluster' | 'shards' | 'upgrades'> &
  Partial<Pick<ValkeyObservation, 'nodes' | 'pods'>>;

/** An upgrade that can never be carried out, and why, in words that a person can act on. */
export interface Refused {
  readonly upgrade: ValkeyUpgradeResource;
  readonly reason: string;
  readonly message: string;
}

/** Which upgrade is next or under way, and which are not to be carried out at all. */
export interface Standing {
  readonly active: ValkeyUpgradeResource | null;
  readonly refused: readonly Refused[];
}

/** Where an upgrade stands. A failed one that was changed since begins anew. */
export function phaseOf({ status, generation }: ValkeyUpgradeResource): UpgradePhase {
  if (status === null) return 'Pending';
  if (generation <= status.observedGeneration) return status.phase;
  const changed = transition(UPGRADE_TABLE, status.phase, 'SpecChanged');
  return changed.moved ? changed.to : status.phase;
}

/** Whether an upgrade has begun to change the cluster, and has not ended. */
export const isUnderWay = (upgrade: ValkeyUpgradeResource): boolean =>
  phaseOf(upgrade) === 'InProgress' || phaseOf(upgrade) === 'RollingBack';

/** The tags with which a shard's pods were made, and with which the next one would be. */
export function tagsOfShard(
  { shards, pods = [] }: Pick<UpgradeFacts, 'shards' | 'pods'>,
  shard: number,
): readonly string[] {
  const made = pods.filter((pod) => pod.shard === shard && !pod.terminating);
  const images = [
    ...shards.filter((set) => set.shard === shard).map((set) => set.image),
    ...made.flatMap((pod) => pod.image ?? []),
  ];
  return [...new Set(images.map(tagOf))];
}

/** The tag that all shards have, in their StatefulSets and in their pods; null while they differ. */
export function runningTag(facts: Pick<UpgradeFacts, 'shards' | 'pods'>): string | null {
  const tags = new Set(facts.shards.flatMap(({ shard }) => tagsOfShard(facts, shard)));
  const [tag] = tags;
  return tags.size === 1 && tag !== undefined ? tag : null;
}

/** The newest version that a master serves with: what it writes, an older one may not be able to read. */
export function newestServing({ nodes = [] }: Pick<UpgradeFacts, 'nodes'>): string | null {
  const versions = nodes.flatMap((node) =>
    node.role === 'master' && node.slots.length > 0 ? (node.version ?? []) : [],
  );
  return versions.toSorted((a, b) => (isOlder(parseVersion(a), parseVersion(b)) ? 1 : -1))[0] ?? null;
}

/** The tag that an upgrade begins from: the one that it noted when it began, or what runs now. */
export const fromTagOf = (facts: UpgradeFacts, upgrade: ValkeyUpgradeResource | null): string =>
  (upgrade !== null && isUnderWay(upgrade) ? upgrade.status?.fromTag : null) ??
  runningTag(facts) ??
  facts.cluster.spec.image.tag;

/** Judges all upgrades of a cluster: one at a time, those under way first, then the oldest. */
export function judgeUpgrades(facts: UpgradeFacts): Standing {
  const open = (facts.upgrades ?? []).filter((upgrade) => !isOver(phaseOf(upgrade)) && !upgrade.deleting);
  const running = open.find(isUnderWay) ?? null;
  const refused: Refused[] = [];
  let active = running;
  for (const upgrade of open) {
    if (upgrade === running) continue;
    const refusal = refuse(facts, upgrade, active);
    if (refusal === null) active = upgrade;
    else refused.push({ upgrade, ...refusal });
  }
  return { active, refused };
}

function refuse(
  facts: UpgradeFacts,
  { spec, namespace, createdAt, name }: ValkeyUpgradeResource,
  active: ValkeyUpgradeResource | null,
): { readonly reason: string; readonly message: string } | null {
  const { image, replicasPerMaster } = facts.cluster.spec;
  const current = runningTag(facts) ?? newestServing(facts) ?? image.tag;
  const target = parseVersion(spec.targetVersion);
  const elsewhere = spec.clusterRef.namespace;
  if (elsewhere !== undefined && elsewhere !== namespace) {
    return {
      reason: 'ClusterElsewhere',
      message: `spec.clusterRef.namespace is ${elsewhere}: an upgrade stands in the namespace of its cluster`,
    };
  }
  if (target === null) {
    return {
      reason: 'NoVersion',
      message: `spec.targetVersion ${spec.targetVersion} is no version: write it as 9.1.2`,
    };
  }
  if (!image.allowDowngrade && isOlder(target, parseVersion(current))) {
    return {
      reason: 'DowngradeBlocked',
      message: `spec.targetVersion ${spec.targetVersion} is older than ${current}, which runs, and may not read its data: set spec.image.allowDowngrade of the cluster if it must be`,
    };
  }
  if (spec.strategy === 'InPlace' && replicasPerMaster === 0) {
    return {
      reason: 'NoReplica',
      message:
        'in place, a shard without a replica would be away while its only node restarts: use strategy Surge',
    };
  }
  const other = active?.name ?? overlapping(facts, createdAt, name);
  return other === null
    ? null
    : {
        reason: 'UpgradeInProgress',
        message: `the upgrade ${other} of this cluster was under way already: create this one again when it has ended`,
      };
}

/** The upgrade that was under way when this one was created, although it has ended since. */
function overlapping({ upgrades }: UpgradeFacts, createdAt: string, name: string): string | null {
  const then = (upgrades ?? []).find(
    ({ status, name: other }) =>
      other !== name &&
      status !== null &&
      status.startedAt !== null &&
      status.completedAt !== null &&
      status.startedAt < createdAt &&
      createdAt < status.completedAt,
  );
  return then?.name ?? null;
}

/**
 * The version of a cluster changes by an upgrade only. Until one has brought it to what the spec asks for, the cluster is
 * looked at with the version that it runs, so that whatever else is done to it leaves that alone.
 */
export function holdVersion(observed: ValkeyObservation): ValkeyObservation {
  const { cluster, shards } = observed;
  // Before it was whole for the first time there is nothing to be careful with.
  if (cluster.observedGeneration === 0 || shards.length === 0) return observed;
  const { active } = judgeUpgrades(observed);
  const running = active !== null && isUnderWay(active);
  const held = running ? fromTagOf(observed, active) : runningTag(observed);
  const { image } = cluster.spec;
  // No upgrade leads to a tag such as `latest`, which may be any version: pods are restarted for it, as for any setting.
  if (!running && !isVersionTag(image.tag)) return observed;
  if (held === null || held === image.tag) return observed;
  const spec = { ...cluster.spec, image: { ...image, tag: held } };
  return { ...observed, cluster: { ...cluster, spec, wantedTag: image.tag } };
}

/**
 * Whether the shards were left with different versions, and nothing brings them together: an upgrade failed and must not
 * roll back, was deleted, or left shards out. What runs then stays until another upgrade is created.
 */
export function versionsDiffer(facts: UpgradeFacts): boolean {
  const { cluster, shards, upgrades } = facts;
  if (cluster.observedGeneration === 0 || shards.length === 0 || runningTag(facts) !== null) return false;
  if (!isVersionTag(cluster.wantedTag ?? cluster.spec.image.tag)) return false;
  return !(upgrades ?? []).some((upgrade) => isUnderWay(upgrade));
}

/** The newest upgrade to the tag that the spec asks for, when it ended without reaching it: it is not tried again unasked. */
export function failedAttempt({ cluster, upgrades }: UpgradeFacts): ValkeyUpgradeResource | null {
  const { wantedTag, spec } = cluster;
  if (wantedTag === undefined) return null;
  const newest = (upgrades ?? []).findLast(
    (upgrade) => tagFor(upgrade.spec.targetVersion, spec.image.tag) === wantedTag,
  );
  if (newest === undefined || newest.status?.startedAt === null) return null;
  return phaseOf(newest) === 'RolledBack' || phaseOf(newest) === 'Failed' ? newest : null;
}
