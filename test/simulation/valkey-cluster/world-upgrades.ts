import type { Condition } from '../../../workflows/shared/messages.ts';
import {
  DEFAULT_UPGRADE,
  type ValkeyUpgradeResource,
  type ValkeyUpgradeSpec,
  type ValkeyUpgradeStatus,
} from '../../../workflows/valkey-upgrade/domain/resource.ts';

/** An upgrade as the API server would keep it. */
export interface WorldUpgrade {
  readonly resource: Omit<ValkeyUpgradeResource, 'status'>;
  status: ValkeyUpgradeStatus | null;
  conditions: readonly Condition[];
  readonly phases: string[];
  /** Each state that a shard was shown in, in order. */
  readonly shardStates: Map<number, string[]>;
}

/** The upgrades of the one simulated cluster. */
export class WorldUpgrades {
  readonly all: WorldUpgrade[] = [];
  readonly #serial: () => string;

  constructor(serial: () => string) {
    this.#serial = serial;
  }

  create(
    name: string,
    spec: unknown,
    nowMs: number,
    automatic = false,
  ): { readonly kind: string; readonly uid: string; readonly generation: number } {
    const known = this.all.find((one) => one.resource.name === name);
    const uid = known?.resource.uid ?? this.#serial();
    if (known === undefined) {
      this.all.push({
        resource: {
          namespace: 'default',
          name,
          uid,
          generation: 1,
          createdAt: `${new Date(nowMs).toISOString().slice(0, 19)}Z`,
          deleting: false,
          ...(automatic ? { automatic } : {}),
          // The test, or the code under test, wrote it; the rest is filled in as the API server would.
          spec: { ...DEFAULT_UPGRADE, ...(spec as ValkeyUpgradeSpec) },
        },
        status: null,
        conditions: [],
        phases: [],
        shardStates: new Map(),
      });
    }
    return { kind: 'ValkeyUpgrade', uid, generation: 1 };
  }

  /** Nothing holds an upgrade back: it is gone at once, whatever it is at. */
  delete(name: string): void {
    this.all.splice(
      this.all.findIndex(({ resource }) => resource.name === name),
      1,
    );
  }

  list(): readonly ValkeyUpgradeResource[] {
    return this.all.map(({ resource, status }) => ({ ...resource, status }));
  }

  writeStatus(uid: string, written: unknown, conditions: readonly Condition[]): void {
    const upgrade = this.all.find((one) => one.resource.uid === uid);
    if (upgrade === undefined) return;
    const absent = { fromTag: null, startedAt: null, completedAt: null, errorMessage: null };
    const status = { ...absent, ...(written as ValkeyUpgradeStatus) };
    upgrade.status = status;
    upgrade.conditions = conditions;
    if (upgrade.phases.at(-1) !== status.phase) upgrade.phases.push(status.phase);
    for (const { shardIndex, status: state } of status.shardStatuses) {
      const states = upgrade.shardStates.get(shardIndex) ?? [];
      if (states.at(-1) !== state) states.push(state);
      upgrade.shardStates.set(shardIndex, states);
    }
  }
}
