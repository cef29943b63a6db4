import { LAYOUTS } from '../../../workflows/datamesh/domain/layouts.ts';
import { admit } from '../../../workflows/datamesh/domain/parallelism.ts';
import type { Mesh } from '../../../workflows/datamesh/domain/mesh.ts';
import type { Intent } from '../../../workflows/datamesh/domain/observed.ts';
import { planTransition } from '../../../workflows/datamesh/domain/transitions.ts';
import { KERNEL_MODELS, kernelModel } from './kernel-models.ts';
import { MAX_NODES } from './scenario.ts';
import { intentsIn, meshOfCounts, type Counts } from './scenes.ts';
import { blockersOf } from './verdicts.ts';

/** One scenario to explore, small enough to send to another process. */
export interface Job {
  readonly kind: 'partitions' | 'graphs' | 'pairs';
  readonly kernel: string;
  readonly counts: Counts;
  readonly qmr: number;
  readonly intents: readonly Intent[];
  readonly primary: string | null;
}

/** How far the space reaches. */
export interface Bounds {
  readonly diskful: number;
  readonly others: number;
  readonly nodes: number;
  readonly smallDiskful: number;
  readonly smallOthers: number;
}

/** The whole space: up to 5 diskful and 2 others; connection graphs, late notice and pairs up to 4 and 1. */
export const FULL_BOUNDS: Bounds = {
  diskful: 5,
  others: 2,
  nodes: MAX_NODES,
  smallDiskful: 4,
  smallOthers: 1,
};

/** A client counts nowhere; beyond so many voters it is left out. */
const MAX_WITH_CLIENT = 3;

const countsUpTo = (diskful: number, others: number, shadow: boolean): readonly Counts[] =>
  Array.from({ length: diskful }, (_, at) => at + 1).flatMap((D) =>
    [0, 1, 2].flatMap((TB) =>
      [0, 1].flatMap((A) =>
        (shadow ? [0, 1] : [0]).flatMap((sD) =>
          TB + A + sD <= others && D + sD <= diskful && (A === 0 || D <= MAX_WITH_CLIENT)
            ? [{ D, TB, A, sD }]
            : [],
        ),
      ),
    ),
  );

/** qmr of the layouts with so many voters, and of their neighbours while voters come and go. */
const redundancies = (voters: number): readonly number[] =>
  [1, 2, 3].filter(
    (qmr) => qmr >= Math.floor(voters / 2) && qmr <= Math.floor(voters / 2) + 1 && qmr <= voters,
  );

/** A tie that is broken with fewer copies than qmr: the guards never let it arise. */
const isForbidden = (counts: Counts, qmr: number): boolean =>
  counts.TB > 0 && counts.D % 2 === 0 && qmr > counts.D / 2;

const sizeOf = (mesh: Mesh, intents: readonly Intent[]): number =>
  mesh.members.length + intents.filter((intent) => intent.op === 'AddMember').length;

const diskfulAfter = (counts: Counts, intents: readonly Intent[]): number =>
  counts.D +
  counts.sD +
  intents.filter((intent) => intent.op === 'AddMember' && (intent.type === 'D' || intent.type === 'sD'))
    .length;

/** Every job within the bounds, the small ones first: what is found early has a short story. */
export function jobsWithin(
  bounds: Bounds,
  kernels: readonly string[] = KERNEL_MODELS.map((one) => one.name),
): readonly Job[] {
  const jobs = kernels.flatMap((name) => {
    const kernel = kernelModel(name);
    const shadow = kernel.kernel === 'flant';
    const scenes = countsUpTo(bounds.diskful, bounds.others, shadow).flatMap((counts) =>
      redundancies(counts.D)
        .filter((qmr) => !isForbidden(counts, qmr))
        .map((qmr) => ({ counts, qmr, mesh: meshOfCounts(kernel, counts, qmr) })),
    );
    const small = (counts: Counts): boolean =>
      counts.D + counts.sD <= bounds.smallDiskful && counts.TB + counts.A <= bounds.smallOthers;
    return scenes.flatMap(({ counts, qmr, mesh }) => {
      const intents = intentsIn(mesh, shadow);
      const base = { kernel: name, counts, qmr };
      const singles = intents
        .filter(
          (intent) =>
            sizeOf(mesh, [intent]) <= bounds.nodes && diskfulAfter(counts, [intent]) <= bounds.diskful,
        )
        .map((intent): Job => ({ ...base, kind: 'partitions', intents: [intent], primary: null }));
      if (!small(counts)) return singles;
      const limit = bounds.smallDiskful + bounds.smallOthers;
      const graphs = intents
        .filter((intent) => sizeOf(mesh, [intent]) <= limit)
        .flatMap((intent) =>
          primariesOf(mesh, intent).map((primary): Job => ({
            ...base,
            kind: 'graphs',
            intents: [intent],
            primary,
          })),
        );
      const pairs = pairsOf(mesh, intents)
        .filter((pair) => sizeOf(mesh, pair) <= limit)
        .map((pair): Job => ({ ...base, kind: 'pairs', intents: pair, primary: null }));
      return [...singles, ...graphs, ...pairs];
    });
  });
  const weight = (job: Job): number =>
    job.counts.D + job.counts.TB * 2 + job.counts.sD + (job.kind === 'graphs' ? 2 : 0) + job.intents.length;
  return jobs.sort((a, b) => weight(a) - weight(b));
}

/** The nodes that may serve: one Diskful that stays, and the one that moves. */
function primariesOf(mesh: Mesh, intent: Intent): readonly string[] {
  const moved = 'member' in intent ? intent.member : null;
  const stays = mesh.members.find((member) => member.type === 'D' && member.name !== moved);
  const moves = mesh.members.find((member) => member.type === 'D' && member.name === moved);
  return [stays, moves].flatMap((member) => (member === undefined ? [] : [member.name]));
}

/** Pairs of transitions of different members that the rules let overlap. */
export function pairsOf(mesh: Mesh, intents: readonly Intent[]): readonly (readonly [Intent, Intent])[] {
  const renamed = intents.map((intent): Intent =>
    intent.op === 'AddMember' ? { ...intent, member: 'new2', node: 'new2' } : intent,
  );
  return intents.flatMap((first, at) =>
    renamed.slice(at).flatMap((second): (readonly [Intent, Intent])[] => {
      const [a, b] = [planTransition(mesh, first), planTransition(mesh, second)];
      return a.member !== b.member && admit(b, [a]).admitted && isAllowedSomewhere(mesh, first, second)
        ? [[first, second]]
        : [];
    }),
  );
}

/** Whether the guards let both run towards one layout. */
const isAllowedSomewhere = (mesh: Mesh, first: Intent, second: Intent): boolean =>
  LAYOUTS.some(
    (layout) => blockersOf(mesh, first, layout).length === 0 && blockersOf(mesh, second, layout).length === 0,
  );
