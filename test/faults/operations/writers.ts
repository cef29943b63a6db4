import { Audit, type AuditOptions } from '../../valkey/audit.ts';
import type { ClusterWorld } from '../../valkey/cluster-world.ts';
import { entityIsAt } from '../entity-rest.ts';
import type { Invariant } from '../operation.ts';

/** Clusters of a campaign are small, and take their volumes along. */
export const SMALL = { persistence: { size: '64Mi', retention: 'Delete' } } as const;

/** A thousand writes a second are enough to lose one, and leave the machine to what is disturbed. */
const REST_MS = 5;

/** Writers on the clusters of one campaign, each from the start of its operation to its end. */
export class Writers {
  readonly #audits = new Map<ClusterWorld, Audit>();
  readonly #options: AuditOptions;

  constructor(options: AuditOptions = {}) {
    this.#options = { restMs: REST_MS, ...options };
  }

  readonly nothingIsLost: Invariant<ClusterWorld> = {
    says: 'every acknowledged write is there, and no counter went back',
    broken: async (world) => {
      const report = await this.#audits.get(world)?.stop();
      if (report === undefined) return 'nobody wrote';
      const bad = [...report.lost, ...report.wentBack];
      return bad.length === 0 ? null : `${bad.length} of ${report.writes}: ${bad.slice(0, 3).join(', ')}`;
    },
  };

  /** Starts them, and resolves once so many writes are acknowledged. */
  async begin(world: ClusterWorld, writes = 0): Promise<void> {
    const audit = await Audit.start(world, this.#options);
    this.#audits.set(world, audit);
    await audit.reached(writes);
  }

  /** Stops them, and takes the cluster away. */
  async end(world: ClusterWorld): Promise<void> {
    await this.#audits.get(world)?.stop();
    await world.remove();
  }
}

/** Why a cluster does not rest yet in the newest generation of its resource; null when it does. */
export async function unsettled(world: ClusterWorld): Promise<string | null> {
  const seen = await world.read();
  const { phase, message, observedGeneration } = seen?.status ?? {};
  return phase === 'Running' && observedGeneration === seen?.metadata.generation
    ? entityIsAt(await world.temporal(), world.entityId)
    : `phase ${phase ?? 'none'}: ${message ?? ''}`;
}
