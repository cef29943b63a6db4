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

/** The layouts as voters and tie-breakers, and what they pass through: a voter more, or a second tie-breaker. */
const COMPOSITIONS: readonly (readonly [D: number, TB: number])[] = [
  [1, 0],
  [2, 0],
  [2, 1],
  [2, 2],
  [3, 0],
  [3, 1],
  [4, 0],
  [4, 1],
  [4, 2],
  [5, 0],
  [5, 1],
];

/** A client counts nowhere, and a shadow as little: beyond so many voters they are left out. */
const MAX_WITH_OTHERS = 3;

const countsUpTo = (bounds: Bounds, shadow: boolean): readonly Counts[] =>
  COMPOSITIONS.flatMap(([D, TB]) =>
    [0, 1].flatMap((A) =>
      (shadow ? [0, 1] : [0]).flatMap((sD) => {
        const within = D + sD <= bounds.diskful && TB + A + sD <= bounds.others;
        return within && (A + sD === 0 || D <= MAX_WITH_OTHERS) ? [{ D, TB, A, sD }] : [];
      }),
    ),
  );

/** qmr of the layouts with so many voters; for three voters also the neighbour's, while voters come and go. */
const redundancies = ({ D, TB }: Counts): readonly number[] => {
  const half = Math.max(1, Math.floor(D / 2));
  if (D % 2 === 0) return TB > 0 ? [half] : [half, half + 1].slice(D > 2 ? 1 : 0);
  return D === 1 ? [1] : D === 3 ? [1, 2] : [TB > 0 ? half : half + 1];
};

/** Compositions that only a replacement passes through: nobody joins there, and beside two tie-breakers only they move. */
function isAsked({ D, TB }: Counts, intent: Intent): boolean {
  if (D === 5 && TB === 1) return intent.op !== 'AddMember';
  if (D === 4 && TB === 2) return 'member' in intent && intent.member.startsWith('t');
  return true;
}

/** What asks only for two writers is implied by the flavour that has quorum more often, and that of five nodes by vanilla. */
const isImplied = (job: Job): boolean =>
  (job.kernel === 'flant' && job.kind !== 'partitions') ||
  (job.kernel === 'vanilla-peer-tiebreaker' && job.kind === 'graphs' && job.counts.D + job.counts.TB > 3);

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
    const scenes = countsUpTo(bounds, shadow).flatMap((counts) =>
      redundancies(counts).map((qmr) => ({ counts, qmr, mesh: meshOfCounts(kernel, counts, qmr) })),
    );
    const small = (counts: Counts): boolean =>
      counts.D + counts.sD <= bounds.smallDiskful && counts.TB + counts.A <= bounds.smallOthers;
    return scenes.flatMap(({ counts, qmr, mesh }) => {
      const intents = intentsIn(mesh, shadow).filter((intent) => isAsked(counts, intent));
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
          primariesOf(mesh, intent)
            .slice(0, sizeOf(mesh, [intent]) < limit ? 2 : 1)
            .map((primary): Job => ({
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
  return jobs.filter((job) => !isImplied(job)).sort((a, b) => weight(a) - weight(b));
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
