import type { ObjectIdentity } from '../../activities/kubernetes/contract.ts';
import { failureOf } from '../shared/failures.ts';
import type { Port } from '../shared/port.ts';
import { Reporter } from '../shared/reporter.ts';
import type { ValkeyTypes } from '../valkey-cluster/contract.ts';
import { API_VERSION } from '../valkey-cluster/domain/names.ts';
import type { ValkeyRun } from '../valkey-cluster/performers.ts';
import { isOver, type UpgradeEvent } from './domain/phases.ts';
import {
  advance,
  buildUpgradeConditions,
  buildUpgradeStatus,
  withShard,
  type UpgradeRecord,
} from './domain/record.ts';
import { UPGRADE_KIND, type ShardStatus, type ValkeyUpgradeResource } from './domain/resource.ts';
import { tellPause } from './domain/waiting.ts';

/** Since when a pause is told on the upgrade: before, nothing was written for it. */
const TELLS_PAUSE = 'valkey-upgrade-tells-pause';

type ValkeyPort = Port<ValkeyTypes['activities']>;

/** The upgrade itself, fenced by its uid. */
export const identityOfUpgrade = ({
  namespace,
  name,
  uid,
}: Pick<ValkeyUpgradeResource, 'namespace' | 'name' | 'uid'>): ObjectIdentity => ({
  apiVersion: API_VERSION,
  kind: UPGRADE_KIND,
  namespace,
  name,
  uid,
});

/** Writes the status of an upgrade. One that was deleted meanwhile has no use for it. */
export async function writeUpgrade(
  port: ValkeyPort,
  upgrade: Pick<ValkeyUpgradeResource, 'namespace' | 'name' | 'uid'>,
  record: UpgradeRecord,
): Promise<void> {
  try {
    await port.act(`upgrade ${upgrade.name}: ${record.phase}`).writeKubernetesStatus({
      resource: identityOfUpgrade(upgrade),
      status: buildUpgradeStatus(record),
      conditions: buildUpgradeConditions(record),
    });
  } catch (error) {
    if (failureOf(error)?.class !== 'stale') throw error;
  }
}

/** What is told of an upgrade while it is carried out: the newest word is written, without holding anything up. */
export class UpgradeLog {
  readonly #reporter: Reporter<UpgradeRecord>;
  #record: UpgradeRecord;
  #paused: string | null = null;

  constructor(port: ValkeyPort, upgrade: ValkeyUpgradeResource, record: UpgradeRecord) {
    this.#record = record;
    this.#reporter = new Reporter((newest) => port.shielded(() => writeUpgrade(port, upgrade, newest)));
  }

  get record(): UpgradeRecord {
    return this.#record;
  }

  /** Goes through the table of phases. */
  reached(event: UpgradeEvent, more: Partial<UpgradeRecord> = {}): void {
    this.#put({ ...advance(this.#record, event), message: '', ...more });
  }

  note(more: Partial<UpgradeRecord>): void {
    this.#put({ ...this.#record, ...more });
  }

  shard(status: ShardStatus): void {
    this.#put(withShard(this.#record, status));
  }

  /** Says as long as a pause holds the run why, and how to end it; what else there is to say comes back after it. */
  followPauses(run: ValkeyRun): void {
    run.onHold((reason) => {
      if (!run.port.knows(TELLS_PAUSE)) return;
      this.#paused = reason === null ? null : tellPause(`paused: ${reason}`, run.ref);
      this.#put(this.#record);
    });
  }

  /** Waits until all is written. */
  flush(): Promise<void> {
    return this.#reporter.flush();
  }

  #put(record: UpgradeRecord): void {
    this.#record = record;
    const paused = isOver(record.phase) ? null : this.#paused;
    this.#reporter.put(paused === null ? record : { ...record, reason: 'Paused', message: paused });
    this.#reporter.begin();
  }
}
