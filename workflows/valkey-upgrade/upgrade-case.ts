import { failure } from '../shared/failures.ts';
import { LetGo } from '../shared/stopping.ts';
import type { ValkeyObservation } from '../valkey-cluster/domain/observation.ts';
import { API_VERSION } from '../valkey-cluster/domain/names.ts';
import { nameShards, viewShards } from '../valkey-cluster/domain/topology.ts';
import { isOlder, parseVersion } from '../valkey-cluster/domain/version.ts';
import { identityOf, type ValkeyRun } from '../valkey-cluster/performers.ts';
import { LIFECYCLE } from '../valkey-cluster/contract.ts';
import {
  isAgreement,
  isShardSkip,
  type Agreement,
  type ShardNews,
  type ShardOrder,
  type ShardSkip,
} from './contract.ts';
import { judgeUpgrades, tagsOfShard } from './domain/judgement.ts';
import { leaveOut } from './domain/leave-out.ts';
import { refuseRollback, type UpgradeWish } from './domain/plan.ts';
import {
  readsDataOf,
  UPGRADE_KIND,
  type ShardStatus,
  type ValkeyUpgradeResource,
} from './domain/resource.ts';
import { leftOutOf, recordOf } from './domain/record.ts';
import { recordWaiting } from './domain/waiting.ts';
import { FOR_TAG_ANNOTATION, nameForTag, specForTag, wishOf } from './domain/wish.ts';
import { shardOf } from './shard-crew.ts';
import { UpgradeLog, writeUpgrade } from './upgrade-log.ts';

/** The change with which a wait for approval ends when its shard is left out, or another one has failed. */
const HEEDS_MORE_THAN_APPROVAL = 'heeds-more-than-approval';

/** One upgrade under way: what it wants, what is told of it, and how it ends. */
export class UpgradeCase {
  readonly direction: 'upgrade' | 'rollback';
  readonly wish: UpgradeWish;
  readonly log: UpgradeLog;
  readonly #upgrade: ValkeyUpgradeResource;
  #begun = 0;
  /** The shards for which a person is asked now. */
  readonly #asking = new Set<number>();

  constructor(
    run: ValkeyRun,
    direction: 'upgrade' | 'rollback',
    upgrade: ValkeyUpgradeResource,
    wish: UpgradeWish,
  ) {
    this.direction = direction;
    this.wish = wish;
    this.#upgrade = upgrade;
    this.log = new UpgradeLog(run.port, upgrade, recordOf(upgrade));
  }

  /** The tag that every node is to run with when this has ended. */
  get tag(): string {
    return this.direction === 'upgrade' ? this.wish.to : this.wish.from;
  }

  /** The shards that somebody wanted left out. */
  get skipped(): readonly number[] {
    return leftOutOf(this.log.record.shards);
  }

  get rollbackOnFailure(): boolean {
    return this.#upgrade.spec.rollbackOnFailure;
  }

  /** How long to watch before the next shard: from the end of the last one on, whoever did that; not before the first. */
  bakeMs(nowMs: number): number {
    this.#begun += 1;
    if (this.direction === 'rollback') return 0;
    const bakeMs = this.#upgrade.spec.bakeSeconds * 1000;
    const ends = this.log.record.shards.flatMap((one) => one.completedAt ?? []).map(Date.parse);
    if (ends.length === 0) return this.#begun === 1 ? 0 : bakeMs;
    return Math.max(0, Math.max(...ends) + bakeMs - nowMs);
  }

  /** Whether the changed tag that this was created for was changed back. */
  isTakenBack({ cluster }: ValkeyObservation): boolean {
    const automatic = this.#upgrade.automatic === true && this.direction === 'upgrade';
    return automatic && (cluster.wantedTag ?? cluster.spec.image.tag) === this.wish.from;
  }

  /** Whether a shard is as it was before the upgrade, so that it can still be left out. */
  isUntouched({ shards, pods }: ValkeyObservation, shard: number): boolean {
    const set = shards.find((one) => one.shard === shard);
    const tags = tagsOfShard({ shards, pods }, shard);
    return set?.replicas === 1 + this.wish.replicasPerMaster && tags.join() === this.wish.from;
  }

  /** Enters the phase in which the cluster is changed. */
  begin(run: ValkeyRun): void {
    const { log, wish } = this;
    const serving = run.observed.health.ok;
    if (this.direction === 'rollback') {
      log.reached('RollbackStarted', { serving });
      return;
    }
    if (log.record.phase === 'Pending') log.reached('UpgradeAccepted');
    log.reached('PreChecksPassed', {
      serving,
      fromTag: wish.from,
      strategy: wish.strategy,
      replicasPerMaster: wish.replicasPerMaster,
      startedAt: log.record.startedAt ?? isoTime(run.port.nowMs()),
      shards: this.#statuses(run),
      rollbackPossibleUntil: this.#lastWayBack(run),
    });
  }

  orderFor(run: ValkeyRun, shard: number): ShardOrder {
    const { spec } = this.#upgrade;
    return {
      shard,
      direction: this.direction,
      // A shard that is left out is only mended.
      tag: this.#isLeftOut(shard) ? (tagsOfShard(run.observed, shard)[0] ?? this.wish.from) : this.tag,
      pods: 1 + this.wish.replicasPerMaster,
      cluster: run.input.observed.cluster,
      limits: {
        podReadyTimeoutSeconds: spec.podReadyTimeoutSeconds,
        replicationSyncTimeoutSeconds: spec.replicationSyncTimeoutSeconds,
        stabilitySeconds: spec.stabilitySeconds,
      },
      status: this.#statusOf(shard),
      gate: this.#gate(shard),
    };
  }

  /** Takes in what a shard says of itself, or that a person agrees. */
  hear(run: ValkeyRun, news: ShardNews | Agreement | { readonly skip: ShardSkip }): void {
    if (isShardSkip(news)) {
      const { shard, reason } = news.skip;
      this.#asking.delete(shard);
      const known = this.#statusOf(shard);
      this.log.shard({ ...known, status: leaveOut(known.status), skippedBecause: reason });
      return;
    }
    if (isAgreement(news)) {
      this.#agree(run, news);
      return;
    }
    // A shard may not have heard yet what a person said of it.
    const { approvedBy, completedAt } = this.#statusOf(news.shard.shardIndex);
    const mended = this.#isLeftOut(news.shard.shardIndex) && news.shard.status === 'Completed';
    this.log.shard({
      ...news.shard,
      ...(mended ? { status: 'Skipped' as const } : {}),
      ...(approvedBy === undefined ? {} : { approvedBy }),
      ...(news.shard.status === 'Completed' ? { completedAt: completedAt ?? isoTime(run.port.nowMs()) } : {}),
    });
    this.#tellWayBack(run, news);
    if (news.awaits !== null && approvedBy === undefined) this.#ask(run, news.awaits);
  }

  /** Where every shard is asked for, nothing of the next one is touched before. */
  async awaitApproval(run: ValkeyRun, shard: number, isOver: () => boolean): Promise<void> {
    if (this.direction === 'rollback' || this.#upgrade.spec.approval !== 'EachShard') return;
    if (this.#isApproved(shard)) return;
    this.#asking.add(shard);
    this.#ask(run, nameShards([...this.#asking]));
    const summary = `approval of ${nameShards([shard])}`;
    const heedsMore = run.port.knows(HEEDS_MORE_THAN_APPROVAL);
    const settled = (): boolean => heedsMore && (this.#isLeftOut(shard) || isOver());
    await run.port.until(() => this.#isApproved(shard) || settled() || run.progress.stopping !== null, {
      summary,
    });
    this.#asking.delete(shard);
    await run.safePoint();
    if (heedsMore && !this.#isApproved(shard) && isOver()) throw new LetGo();
  }

  /** What a person agrees to is kept in the status, so that it is not asked for again when all is planned anew. */
  #agree(run: ValkeyRun, { approvedBy }: Agreement): void {
    const { phase, shards } = this.log.record;
    // Where each shard is asked for, those that are asked for now are meant; otherwise all of them.
    const each = this.#upgrade.spec.approval === 'EachShard';
    // One that was given ahead of the first shard is for that.
    const first = run.input.plan.steps.map(shardOf).find((shard) => shard >= 0);
    if (this.#begun === 0 && first !== undefined) this.#asking.add(first);
    const isMeant = ({ shardIndex }: ShardStatus): boolean => !each || this.#asking.has(shardIndex);
    const approved = shards.map((one) => (isMeant(one) ? { ...one, approvedBy } : one));
    const idle = each && this.#asking.size === 0;
    const message = idle
      ? `${approvedBy} approved, and nothing is asked for: what comes next is asked for in its turn`
      : `approved by ${approvedBy}`;
    this.log.note({ shards: approved, reason: phase, message });
    this.#asking.clear();
  }

  #isLeftOut(shard: number): boolean {
    return this.direction === 'upgrade' && this.skipped.includes(shard);
  }

  #isApproved(shard: number): boolean {
    return this.#statusOf(shard).approvedBy !== undefined;
  }

  #ask(run: ValkeyRun, what: string): void {
    const message = `waits for approval of ${what}: keelson approve ${LIFECYCLE}/${run.ref.namespace}/${run.ref.name} --hash ${run.input.plan.hash}`;
    this.log.note({ reason: 'AwaitingApproval', message });
    run.tell(message);
  }

  #gate(shard: number): ShardOrder['gate'] {
    if (this.direction === 'rollback' || this.#isApproved(shard)) return null;
    const { approval } = this.#upgrade.spec;
    // An upgrade that was planned anew has its first handover behind it, as its status says.
    const handedOver = this.log.record.shards.some((one) => one.promotedReplica !== undefined);
    if (approval === 'BeforeFirstFailover') return handedOver ? null : 'HandOver';
    return approval === 'PointOfNoReturn' ? 'irreversible' : null;
  }

  /** Says on every upgrade that can not be carried out beside this one that it is not. */
  async refuseOthers(run: ValkeyRun): Promise<void> {
    const { observed } = run;
    this.log.note({ serving: observed.health.ok });
    const operation = { name: this.direction };
    const news = {
      observed,
      reason: 'OperationRunning',
      message: '',
      operation,
      blocked: null,
      failure: null,
    };
    for (const { upgrade, record } of recordWaiting(news)) await writeUpgrade(run.port, upgrade, record);
    const { active } = judgeUpgrades(observed);
    if (active?.uid === this.#upgrade.uid) return;
    throw failure('ResourceGone', `the upgrade ${this.#upgrade.name} is gone`);
  }

  /** Writes the version into the cluster's spec, unless somebody wants another by now, and says that all is done. */
  async complete(run: ValkeyRun): Promise<void> {
    const { wish, log } = this;
    const completedAt = isoTime(run.port.nowMs());
    if (this.direction === 'rollback') {
      log.reached('ShardsRolledBack', { completedAt });
      return;
    }
    const { skipped } = this;
    if (this.#upgrade.automatic !== true && skipped.length === 0) {
      await run.port.act(`spec.image.tag: ${wish.to}`).setKubernetesField({
        resource: identityOf(run.observed),
        path: ['spec', 'image', 'tag'],
        from: this.#replacedTag(run),
        to: wish.to,
      });
    }
    const left = `${nameShards(skipped)} was left out and runs ${wish.from}: create another upgrade for it`;
    const message = skipped.length === 0 ? '' : left;
    log.reached('ShardsUpgraded', { completedAt, errorMessage: null, message });
  }

  /** The tag that the spec may have until now. One that is older than what runs by now can only be left over. */
  #replacedTag({ observed }: ValkeyRun): string {
    const { spec, wantedTag } = observed.cluster;
    const tag = wantedTag ?? spec.image.tag;
    const leftOver = !spec.image.allowDowngrade && isOlder(parseVersion(tag), parseVersion(this.wish.to));
    return leftOver ? tag : this.wish.from;
  }

  fail(run: ValkeyRun, errorMessage: string): void {
    const completedAt = isoTime(run.port.nowMs());
    this.log.reached('ShardFailed', { errorMessage, message: errorMessage, completedAt });
  }

  #statuses(run: ValkeyRun): readonly ShardStatus[] {
    const touched = new Set(run.input.plan.steps.map(shardOf));
    return viewShards(run.observed).map(({ shard, master }) => {
      const known = this.#statusOf(shard);
      const skipped = !touched.has(shard) && known.status === 'Pending';
      return {
        ...known,
        ...(master === null ? {} : { masterNodeId: master.id, masterPod: master.pod }),
        ...(skipped ? { status: leaveOut(known.status) } : {}),
      };
    });
  }

  #statusOf(shard: number): ShardStatus {
    const known = this.log.record.shards.find((one) => one.shardIndex === shard);
    return known ?? { shardIndex: shard, status: 'Pending' };
  }

  /** Once a step that cannot be undone has begun, there is no way back. */
  #tellWayBack(run: ValkeyRun, { steps }: ShardNews): void {
    if (this.direction === 'rollback') return;
    const last = new Set(run.input.plan.steps.flatMap((step) => (step.irreversible ? step.id : [])));
    const begun = steps.find((step) => last.has(step.id) && step.startedAtMs !== null);
    if (begun !== undefined)
      this.log.note({ rollbackPossibleUntil: `no longer: step ${begun.id} has begun` });
  }

  #lastWayBack(run: ValkeyRun): string {
    if (readsDataOf(this.wish.from, this.wish.to)) return 'it has ended';
    const gone = refuseRollback(run.observed, this.wish);
    if (gone !== null) return `no longer: ${gone}`;
    const step = run.input.plan.steps.find((one) => one.irreversible);
    if (step === undefined) return 'now: no node of the old version is left in some shard';
    return `step ${step.id} begins: ${step.reason}`;
  }
}

/** Finds the upgrade that is to be carried out; one that only a changed tag asks for is created, so that it can be seen. */
export async function openUpgrade(run: ValkeyRun, direction: 'upgrade' | 'rollback'): Promise<UpgradeCase> {
  let { active } = judgeUpgrades(run.observed);
  if (active === null) {
    await createForTag(run, run.observed);
    ({ active } = judgeUpgrades(await run.observe()));
  }
  const wish = wishOf(run.observed);
  if (active === null || wish === null) throw failure('ResourceGone', 'the upgrade is gone');
  const opened = new UpgradeCase(run, direction, active, wish);
  opened.begin(run);
  opened.log.followPauses(run);
  return opened;
}

async function createForTag(run: ValkeyRun, observed: ValkeyObservation): Promise<void> {
  const { cluster } = observed;
  const tag = cluster.wantedTag;
  if (tag === undefined) throw failure('ResourceGone', 'the upgrade is gone');
  const { clusterRef, targetVersion } = specForTag(cluster.name, tag);
  await run.port.act(`an upgrade for spec.image.tag ${tag}`).applyKubernetesObjects({
    owner: identityOf(observed),
    manager: 'keelson',
    objects: [
      {
        apiVersion: API_VERSION,
        kind: UPGRADE_KIND,
        metadata: {
          name: nameForTag(cluster),
          namespace: cluster.namespace,
          annotations: { [FOR_TAG_ANNOTATION]: tag },
        },
        spec: { clusterRef, targetVersion },
      },
    ],
    known: {},
  });
}

/** A time as Kubernetes writes it, in whole seconds. */
const isoTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
