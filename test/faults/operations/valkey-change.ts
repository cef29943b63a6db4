import type { StackHandle } from '../../../deploy/local/testing.ts';
import { Audit } from '../../valkey/audit.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';
import { entityIsAt } from '../entity-rest.ts';
import type { FaultOperation, Invariant } from '../operation.ts';
import { oneEntityRuns, ownerOfAll } from './valkey-invariants.ts';

interface Shape {
  readonly masters: number;
  readonly replicasPerMaster: number;
}

const SMALL = { persistence: { size: '64Mi', retention: 'Delete' } } as const;

/** A change from one shape to another with writers on it all the while, of which no acknowledged write may be lost. */
export const changeUnderAudit =
  (name: string, from: Shape, to: Shape) =>
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
        await world.applyWithSecret({ ...SMALL, ...from });
        await world.awaitPhase('Running');
      },
      async start(world) {
        audits.set(world, await Audit.start(world));
        await world.apply({ auth: { secretRef: { name: 'cache-auth' } }, ...SMALL, ...to });
      },
      async unfinished(world) {
        const seen = await world.read();
        const { phase, message, observedGeneration } = seen?.status ?? {};
        const over = phase === 'Running' && observedGeneration === seen?.metadata.generation;
        return over
          ? entityIsAt(await world.temporal(), world.entityId)
          : `phase ${phase ?? 'none'}: ${message ?? ''}`;
      },
      invariants: [
        {
          says: 'the cluster is whole',
          broken: (world) => wrongWith(world, to.masters, to.replicasPerMaster),
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
