import type { StackHandle } from '../../../deploy/local/testing.ts';
import { Audit } from '../../valkey/audit.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';
import { applyUpgrade, readUpgrade, tagsOf } from '../../valkey/upgrade-world.ts';
import { entityIsAt } from '../entity-rest.ts';
import type { FaultOperation, Invariant } from '../operation.ts';
import { oneEntityRuns, ownerOfAll } from './valkey-invariants.ts';

const SMALL = { persistence: { size: '64Mi', retention: 'Delete' } } as const;
const NAME = 'upgrade';
const FROM = '9.0.0';

/** What is asked for, and how it is to end. */
interface Case {
  readonly target: string;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly phase: 'Completed' | 'RolledBack';
  readonly tag: string;
}

/** An upgrade of 3 masters with a replica each, with writers on it all the while. */
const upgradeUnderAudit =
  (name: string, { target, spec, phase, tag }: Case) =>
  (stack: StackHandle): FaultOperation<ClusterWorld> => {
    const audits = new Map<ClusterWorld, Audit>();
    const nothingIsLost: Invariant<ClusterWorld> = {
      says: 'every acknowledged write is there, and no counter went back',
      async broken(world) {
        const report = await audits.get(world)?.stop();
        if (report === undefined) return 'nobody wrote';
        const bad = [...report.lost, ...report.wentBack];
        return bad.length === 0 ? null : `${bad.length} of ${report.writes}: ${bad.slice(0, 3).join(', ')}`;
      },
    };
    return {
      name,
      alone: [],
      begin: () => ClusterWorld.create(stack),
      async prepare(world) {
        await world.applyWithSecret({ ...SMALL, image: { tag: FROM } });
        await world.awaitPhase('Running');
      },
      async start(world) {
        audits.set(world, await Audit.start(world));
        await applyUpgrade(world, NAME, target, spec);
      },
      async unfinished(world) {
        const upgrade = await readUpgrade(world, NAME);
        if (upgrade?.status?.phase !== phase)
          return `the upgrade is ${upgrade?.status?.phase ?? 'new'}: ${upgrade?.status?.message ?? ''}`;
        const seen = await world.read();
        const { phase: of, observedGeneration } = seen?.status ?? {};
        return of === 'Running' && observedGeneration === seen?.metadata.generation
          ? entityIsAt(await world.temporal(), world.entityId)
          : `the cluster is ${of ?? 'without a phase'}`;
      },
      invariants: [
        { says: 'the cluster is whole', broken: (world) => wrongWith(world, 3, 1) },
        {
          says: `every pod runs ${tag}`,
          async broken(world) {
            const tags = await tagsOf(world);
            return tags.join() === tag ? null : tags.join(', ');
          },
        },
        ownerOfAll,
        oneEntityRuns,
        nothingIsLost,
      ],
      async end(world) {
        await audits.get(world)?.stop();
        await world.remove();
      },
    };
  };

/** From 9.0.0 to 9.1.2 with a surge: every kind of step of an upgrade. */
export const valkeyUpgrade = upgradeUnderAudit('valkey-upgrade', {
  target: '9.1.2',
  spec: { strategy: 'Surge', stabilitySeconds: 0 },
  phase: 'Completed',
  tag: '9.1.2',
});

/** Back from a version whose image does not exist. */
export const valkeyRollback = upgradeUnderAudit('valkey-rollback', {
  target: '9.9.9',
  spec: { strategy: 'InPlace', stabilitySeconds: 0, podReadyTimeoutSeconds: 5 },
  phase: 'RolledBack',
  tag: FROM,
});
