import type { Served } from '../../shared/lifecycle.ts';
import type { Condition, ResourceRef } from '../../shared/messages.ts';
import type { ValkeyPlan } from '../../valkey-cluster/domain/commands.ts';
import type { ValkeyObservation, ValkeyShardSet } from '../../valkey-cluster/domain/observation.ts';
import { nameShards } from '../../valkey-cluster/domain/topology.ts';
import {
  failedAttempt,
  isUnderWay,
  judgeUpgrades,
  newestServing,
  phaseOf,
  tagsOfShard,
  versionsDiffer,
} from './judgement.ts';
import { isOver } from './phases.ts';
import { advance, recordOf, type UpgradeRecord } from './record.ts';
import { UPGRADE_KIND, type ValkeyUpgradeResource } from './resource.ts';

/** What the entity says of its cluster, as far as upgrades are concerned. */
export interface ClusterNews {
  readonly observed: ValkeyObservation;
  readonly reason: string;
  readonly message: string;
  readonly operation: { readonly name: string } | null;
  readonly blocked: string | null;
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly carriedOut?: number | null;
  /** It was seen before an operation that has ended since. */
  readonly past?: true;
}

/** The upgrade that a plan's operation serves; null for every other operation, and for one that only a tag asks for. */
export function servedUpgrade(observed: ValkeyObservation, plan: ValkeyPlan): Served | null {
  const { active } = judgeUpgrades(observed);
  if (active === null || !CARRYING.has(plan.operation)) return null;
  const { uid, generation, deleting } = active;
  return { kind: UPGRADE_KIND, uid, generation, deleting, phase: null, carriedOut: null, approvals: false };
}

/** Whether an upgrade that was cancelled has to run once more, because the cancellation did not reach it. */
export function answersCancel(observed: ValkeyObservation, plan: ValkeyPlan): boolean {
  const { active } = judgeUpgrades(observed);
  return plan.operation === 'upgrade' && active !== null && isUnderWay(active);
}

/** What the cluster's own conditions say of its upgrades: that a wish waits for one, or that one did not succeed. */
export function upgradeConditions({ observed, operation, carriedOut }: ClusterNews): readonly Condition[] {
  const { cluster } = observed;
  const { active } = judgeUpgrades(observed);
  const say = (type: string, reason: string, message: string): readonly Condition[] => [
    { type, status: 'True', reason, message, observedGeneration: cluster.generation },
  ];
  const carries = operation !== null && CARRYING.has(operation.name);
  if (carries && active !== null && carriedOut !== undefined && carriedOut !== cluster.generation) {
    const words = `generation ${cluster.generation} waits for the upgrade ${active.name}`;
    return say('Waiting', 'UpgradeInProgress', words);
  }
  if (versionsDiffer(observed)) {
    return say('VersionHeld', 'VersionsDiffer', tellVersions(observed));
  }
  const failed = active === null ? failedAttempt(observed) : null;
  if (failed === null) return [];
  const why = failed.status?.errorMessage ?? 'see its conditions';
  const words = `spec.image.tag ${cluster.wantedTag ?? ''} is not carried out: the upgrade ${failed.name} is ${phaseOf(failed)} (${why}); change the tag, or create another upgrade`;
  return say('VersionHeld', phaseOf(failed), words);
}

/** Which shards run what, and what to create so that all run the same again. */
function tellVersions(observed: ValkeyObservation): string {
  const { shards, nodes } = observed;
  const onTag = ({ shard }: ValkeyShardSet): string => tagsOfShard(observed, shard).toSorted().join(' and ');
  const tags = [...new Set(shards.map(onTag))].toSorted();
  const groups = tags.map((tag) => {
    const on = shards.filter((set) => onTag(set) === tag).map((set) => set.shard);
    return `${nameShards(on)} on ${tag}`;
  });
  const target = newestServing({ nodes }) ?? tags.at(-1) ?? '';
  return `not all shards run the same version (${groups.join(', ')}): create a ValkeyUpgrade with targetVersion ${target} to bring them together`;
}

/** What is to be written on the upgrades that nothing carries out at the moment. */
export function recordWaiting(
  news: ClusterNews,
): readonly { readonly upgrade: ValkeyUpgradeResource; readonly record: UpgradeRecord }[] {
  // The end of an operation is told with what was seen before it; the upgrade has said more by then.
  if (news.past === true) return [];
  const { active, refused } = judgeUpgrades(news.observed);
  const failed = refused.map(({ upgrade, reason, message }) => ({
    upgrade,
    record: { ...advance(recordOf(upgrade), 'UpgradeRefused'), reason, message, errorMessage: message },
  }));
  const carried = news.operation !== null && CARRYING.has(news.operation.name);
  if (active === null || carried) return failed;
  return [...failed, { upgrade: active, record: recordActive(active, news) }];
}

/** The operations that write the status of their upgrade themselves. */
const CARRYING: ReadonlySet<string> = new Set(['upgrade', 'rollback']);

function recordActive(upgrade: ValkeyUpgradeResource, news: ClusterNews): UpgradeRecord {
  const record = { ...recordOf(upgrade), serving: news.observed.health.ok };
  const why = reasonToWait(news);
  if (isUnderWay(upgrade) || isOver(phaseOf(upgrade))) return { ...record, ...why };
  const waits = news.operation !== null;
  return { ...(waits || record.phase === 'PreChecks' ? record : advance(record, 'UpgradeAccepted')), ...why };
}

/** A pause in words, and how to end it. */
export const tellPause = (paused: string, { namespace, name }: ResourceRef): string =>
  `${paused}; to go on: keelson resume valkey-cluster/${namespace}/${name}`;

function reasonToWait(news: ClusterNews): Pick<UpgradeRecord, 'reason' | 'message'> {
  const { operation, blocked, failure, message, observed } = news;
  const cluster = `${observed.cluster.namespace}/${observed.cluster.name}`;
  if (operation !== null)
    return { reason: 'WaitsForOperation', message: `${operation.name} of ${cluster} is under way` };
  if (news.reason === 'Paused') return { reason: 'Paused', message: tellPause(message, observed.cluster) };
  if (blocked !== null) return { reason: 'PreChecks', message: blocked };
  if (failure !== null) return { reason: failure.code, message: failure.message };
  return { reason: 'Waiting', message: message === '' ? `${cluster} comes to it next` : message };
}
