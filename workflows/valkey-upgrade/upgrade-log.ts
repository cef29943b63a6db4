import type { ObjectIdentity } from '../../activities/kubernetes/contract.ts';
import { failureOf } from '../shared/failures.ts';
import type { Port } from '../shared/port.ts';
import { Reporter } from '../shared/reporter.ts';
import type { ValkeyTypes } from '../valkey-cluster/contract.ts';
import { API_VERSION } from '../valkey-cluster/domain/names.ts';
import type { UpgradeEvent } from './domain/phases.ts';
import {
  advance,
  buildUpgradeConditions,
  buildUpgradeStatus,
  withShard,
  type UpgradeRecord,
} from './domain/record.ts';
import { UPGRADE_KIND, type ShardStatus, type ValkeyUpgradeResource } from './domain/resource.ts';

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

  /** Waits until all is written. */
  flush(): Promise<void> {
    return this.#reporter.flush();
  }

  #put(record: UpgradeRecord): void {
    this.#record = record;
    this.#reporter.put(record);
    this.#reporter.begin();
  }
}
