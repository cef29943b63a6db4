import { failure } from '../shared/failures.ts';
import type { ValkeyObservation } from '../valkey-cluster/domain/observation.ts';
import { API_VERSION } from '../valkey-cluster/domain/names.ts';
import { nameShards, viewShards } from '../valkey-cluster/domain/topology.ts';
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
import { judgeUpgrades } from './domain/judgement.ts';
import { leaveOut } from './domain/leave-out.ts';
import type { UpgradeWish } from './domain/plan.ts';
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

/** One upgrade under way: what it wants, what is told of it, and how it ends. */
export class UpgradeCase {
  readonly direction: 'upgrade' | 'rollback';
  readonly wish: UpgradeWish;
  readonly log: UpgradeLog;
  readonly #upgrade: ValkeyUpgradeResource;
  #begun = 0;

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

  /** How long to watch before the next shard; not before the first one. */
  bakeMs(): number {
    this.#begun += 1;
    return this.#begun === 1 || this.direction === 'rollback' ? 0 : this.#upgrade.spec.bakeSeconds * 1000;
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
      tag: this.tag,
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
      const known = this.#statusOf(shard);
      this.log.shard({ ...known, status: leaveOut(known.status), skippedBecause: reason });
      return;
    }
    if (isAgreement(news)) {
      this.#agree(news);
      return;
    }
    const { shardIndex } = news.shard;
    // A shard may not have heard yet what a person said of it.
    const { approvedBy } = this.#statusOf(shardIndex);
    this.log.shard({ ...news.shard, ...(approvedBy === undefined ? {} : { approvedBy }) });
    this.#tellWayBack(run, news);
    if (news.awaits !== null && approvedBy === undefined) this.#ask(run, news.awaits);
  }

  /** Where every shard is asked for, nothing of the next one is touched before. */
  async awaitApproval(run: ValkeyRun, shard: number): Promise<void> {
    if (this.direction === 'rollback' || this.#upgrade.spec.approval !== 'EachShard') return;
    if (this.#isApproved(shard)) return;
    this.#ask(run, nameShards([shard]));
    const summary = `approval of ${nameShards([shard])}`;
    const decided = (): boolean => this.#isApproved(shard) || this.skipped.includes(shard);
    await run.port.until(() => decided() || run.progress.stopping !== null, { summary });
    await run.safePoint();
  }

  /** What a person agrees to is kept in the status, so that it is not asked for again when all is planned anew. */
  #agree({ approvedBy }: Agreement): void {
    const { phase, shards } = this.log.record;
    // Where each shard is asked for, the next one is meant; otherwise all of them.
    const each = this.#upgrade.spec.approval === 'EachShard';
    const next = shards.find((one) => one.status === 'Pending' && one.approvedBy === undefined);
    const approved = shards.map((one) => (!each || one === next ? { ...one, approvedBy } : one));
    this.log.note({ shards: approved, reason: phase, message: `approved by ${approvedBy}` });
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
    if (active?.uid === this.#upgrade.uid || (active === null && this.#upgrade.uid === '')) return;
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
        from: wish.from,
        to: wish.to,
      });
    }
    const left = `${nameShards(skipped)} was left out and runs ${wish.from}: create another upgrade for it`;
    const message = skipped.length === 0 ? '' : left;
    log.reached('ShardsUpgraded', { completedAt, errorMessage: null, message });
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
