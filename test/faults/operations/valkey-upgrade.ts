import type { StackHandle } from '../../../deploy/local/testing.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';
import { applyUpgrade, readUpgrade, tagsOf } from '../../valkey/upgrade-world.ts';
import type { FaultOperation } from '../operation.ts';
import { oneEntityRuns, ownerOfAll } from './valkey-invariants.ts';
import { SMALL, unsettled, Writers } from './writers.ts';

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
    const writers = new Writers();
    return {
      name,
      alone: [],
      begin: () => ClusterWorld.create(stack),
      async prepare(world) {
        await world.applyWithSecret({ ...SMALL, image: { tag: FROM } });
        await world.awaitPhase('Running');
      },
      async start(world) {
        await writers.begin(world);
        await applyUpgrade(world, NAME, target, spec);
      },
      async unfinished(world) {
        const upgrade = await readUpgrade(world, NAME);
        if (upgrade?.status?.phase !== phase)
          return `the upgrade is ${upgrade?.status?.phase ?? 'new'}: ${upgrade?.status?.message ?? ''}`;
        return unsettled(world);
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
        writers.nothingIsLost,
      ],
      end: (world) => writers.end(world),
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
